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

describe("an agent hands on", () => {
  test.each<[string, Partial<DelegateRequest>, string, number]>([
    ["all that it has when nothing narrower is asked", {}, "read,write", 2],
    ["a narrower scope", { scope: ["read"] }, "read", 2],
    ["no tool at all", { scope: [] }, "", 2],
    ["a smaller budget", { max_budget: 0.5 }, "read,write", 0.5],
    ["never more money than it may spend", { max_budget: 5 }, "read,write", 2],
  ])("%s", (_, request, scope, maxBudget) => {
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

  test("never for longer than its own token lasts", () => {
    const request = { prompt: "p", agent_id: next.agentId };
    const late = { ...holder, until: now + 120_000 };
    expect(attenuateToken(own, request, late)).toMatchObject({
      token: { expires_at: own.expires_at },
    });
  });

  test("no token to an agent that the relay chooses, and still no more money", () => {
    const request = { prompt: "p", capability: "read", max_budget: 5 };
    expect(attenuateToken(own, request, holder)).toEqual({ ok: true, maxBudget: 2 });
  });

  test("no token when it has none", () => {
    const request = { prompt: "p", agent_id: next.agentId, max_budget: 5 };
    expect(attenuateToken(undefined, request, holder)).toEqual({ ok: true, maxBudget: 5 });
  });
});

describe("an agent does not hire", () => {
  test("with a wider scope than its own", () => {
    expect(pass({ scope: ["read", "erase"] })).toMatchObject({ ok: false });
    expect(pass({ scope: ["read,erase"] })).toMatchObject({ ok: false });
  });

  test("with a scope that nothing would enforce", () => {
    const scope = ["read"];
    const named = { prompt: "p", agent_id: next.agentId, scope };
    expect(attenuateToken(undefined, named, holder)).toMatchObject({ ok: false });
    expect(attenuateToken(own, { prompt: "p", capability: "c", scope }, holder)).toMatchObject({
      ok: false,
    });
  });

  test("under a chain that has no room for one more token", () => {
    let token = own;
    for (let length = 1; length < DELEGATION_LIMITS.maxChain; length++) {
      const passed = pass({}, token);
      if (!passed.ok || passed.token === undefined) throw new Error(`refused at ${length}`);
      ({ token } = passed);
    }
    expect(pass({}, token)).toMatchObject({ ok: false });
  });
});
