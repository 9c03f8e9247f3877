import {
  DELEGATION_LIMITS,
  type DelegationToken,
  signDelegationToken,
  verifyDelegationToken,
} from "@agent/receipts";
import { describe, expect, test } from "vitest";
import type { DelegateRequest } from "../../execution/delegation/delegation.ts";
import { createTestIdentity } from "../../testing/agents/test-identity.ts";
import { attenuateToken } from "./attenuate-token.ts";

const [issuer, identity, next] = [createTestIdentity(), createTestIdentity(), createTestIdentity()];
const now = 1_760_000_000_000;
const until = now + 30_000;
const holder = { identity, tokenId: "child", until };

const own = signDelegationToken(
  {
    token_id: "root",
    issuer_agent_id: issuer.agentId,
    issuer_public_key: issuer.publicKey,
    delegate_agent_id: identity.agentId,
    scope: "read,write",
    max_budget: 2,
    not_before: now,
    expires_at: now + 60_000,
  },
  issuer.secretKey,
);

function pass(request: Partial<DelegateRequest>, token: DelegationToken | undefined = own) {
  return attenuateToken(token, { prompt: "p", agent_id: next.agentId, ...request }, holder);
}

describe("an attenuated token", () => {
  test.each<[string, Partial<DelegateRequest>, string, number]>([
    ["all of the agent's rights by default", {}, "read,write", 2],
    ["a narrower scope", { scope: ["read"] }, "read", 2],
    ["no tool at all", { scope: [] }, "", 2],
    ["a smaller budget", { max_budget: 0.5 }, "read,write", 0.5],
    ["at most the agent's own budget", { max_budget: 5 }, "read,write", 2],
  ])("an attenuated token grants %s", (_, request, scope, maxBudget) => {
    const passed = pass(request);
    expect(passed).toMatchObject({
      ok: true,
      maxBudget,
      token: {
        scope,
        max_budget: maxBudget,
        expires_at: until,
        delegate_agent_id: next.agentId,
        parent: own,
      },
    });
    const keys = new Map([issuer, identity].map((one) => [one.agentId, [one.publicKey]]));
    const verdict = verifyDelegationToken(passed.ok ? passed.token : null, {
      now,
      delegateId: next.agentId,
      listKeys: (agentId) => keys.get(agentId) ?? [],
    });
    expect(verdict.valid).toBe(true);
  });

  test("an attenuated token expires no later than the agent's own", () => {
    const request = { prompt: "p", agent_id: next.agentId };
    const late = { ...holder, until: now + 120_000 };
    expect(attenuateToken(own, request, late)).toMatchObject({
      token: { expires_at: own.expires_at },
    });
  });

  test("an agent that the relay chooses gets no token, and the budget still applies", () => {
    const request = { prompt: "p", capability: "read", max_budget: 5 };
    expect(attenuateToken(own, request, holder)).toEqual({ ok: true, maxBudget: 2 });
  });

  test("an agent without a token issues none", () => {
    const request = { prompt: "p", agent_id: next.agentId, max_budget: 5 };
    expect(attenuateToken(undefined, request, holder)).toEqual({ ok: true, maxBudget: 5 });
  });
});

describe("a refused delegation", () => {
  test("a delegation with a wider scope than the agent's own is refused", () => {
    expect(pass({ scope: ["read", "erase"] })).toMatchObject({ ok: false });
    expect(pass({ scope: ["read,erase"] })).toMatchObject({ ok: false });
  });

  test("a delegation with an unenforceable scope is refused", () => {
    const scope = ["read"];
    const named = { prompt: "p", agent_id: next.agentId, scope };
    expect(attenuateToken(undefined, named, holder)).toMatchObject({ ok: false });
    expect(attenuateToken(own, { prompt: "p", capability: "c", scope }, holder)).toMatchObject({
      ok: false,
    });
  });

  test("a delegation under a chain of the maximum length is refused", () => {
    let token = own;
    for (let length = 1; length < DELEGATION_LIMITS.maxChain; length++) {
      const passed = pass({}, token);
      if (!passed.ok || passed.token === undefined) throw new Error(`refused at ${length}`);
      ({ token } = passed);
    }
    expect(pass({}, token)).toMatchObject({ ok: false });
  });
});
