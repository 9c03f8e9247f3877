import { signDelegationToken } from "@agent/receipts";
import { expect, test } from "vitest";
import { createTestIdentity } from "../../testing/agents/test-identity.ts";
import { createDelegationCheck } from "./delegation-scope.ts";

const NOW = 1_700_000_000_000;

test("the scope of a task expires together with its delegation token", async () => {
  const identity = createTestIdentity();
  const token = signDelegationToken(
    {
      token_id: "self",
      issuer_agent_id: identity.agentId,
      issuer_public_key: identity.publicKey,
      delegate_agent_id: identity.agentId,
      scope: "write,read",
      not_before: NOW - 1_000,
      expires_at: NOW + 60_000,
    },
    identity.secretKey,
  );
  const check = createDelegationCheck({ identity, keysOf: undefined, now: () => NOW });
  expect(await check(token, { requiredCapabilities: [] })).toEqual({
    scope: ["read", "write"],
    scopeExpiresAt: NOW + 60_000,
    delegationToken: token,
  });
});
