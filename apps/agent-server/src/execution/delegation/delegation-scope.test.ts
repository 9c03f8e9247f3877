import { signDelegationToken } from "@agent/receipts";
import { expect, test } from "vitest";
import { createTestIdentity } from "../../testing/agents/test-identity.ts";
import type { Identity } from "../../identity/identity.ts";
import type { Lookup } from "../../lookup.ts";
import { createDelegationCheck } from "./delegation-scope.ts";

const NOW = 1_700_000_000_000;

const identity = createTestIdentity();

function tokenBy({ agentId, publicKey, secretKey }: Identity) {
  return signDelegationToken(
    {
      token_id: "one",
      issuer_agent_id: agentId,
      issuer_public_key: publicKey,
      delegate_agent_id: identity.agentId,
      scope: "write,read",
      not_before: NOW - 1_000,
      expires_at: NOW + 60_000,
    },
    secretKey,
  );
}

test("the scope of a task expires together with its delegation token", async () => {
  const token = tokenBy(identity);
  const check = createDelegationCheck({ identity, findKey: undefined, now: () => NOW });
  expect(await check(token, { requiredCapabilities: [] })).toEqual({
    ok: true,
    rights: {
      scope: ["read", "write"],
      scopeExpiresAt: NOW + 60_000,
      delegationToken: token,
    },
  });
});

const issuer = createTestIdentity("issuer");
const refused = (code: string) => ({
  ok: true,
  rights: { refusal: `The delegation token is refused (${code})` },
});

test.each<[string, Lookup<string>, unknown]>([
  ["allowed", { status: "found", value: issuer.publicKey }, { ok: true }],
  ["refused", { status: "unknown" }, refused("delegation.key_unbound")],
  ["neither", { status: "unavailable", retryAfterSeconds: 5 }, { ok: false }],
])(
  "E9: a task is %s according to the result of the look-up of its issuer's key",
  async (_, key, expected) => {
    const check = createDelegationCheck({ identity, findKey: async () => key, now: () => NOW });
    expect(await check(tokenBy(issuer), { requiredCapabilities: [] })).toMatchObject(
      expected as object,
    );
  },
);
