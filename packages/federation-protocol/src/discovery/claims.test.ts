import { deriveAgentId } from "@agent/crypto";
import { describe, expect, it } from "vitest";
import { alpha, beta, gamma, worker } from "../../test/messages.ts";
import { findClaimWithKey, resolveClaims, type AgentClaim } from "./claims.ts";
import { parseEntries } from "./entries.ts";

/** What a relay tells of the agent; `source` is another one if it only passes the word on. */
function claim(
  via: string,
  public_key: string | null,
  { admitted = false, source = via, trust = 0.5, id = worker.id, conflict = false } = {},
): AgentClaim {
  const [agent] = parseEntries(
    {
      agents: [
        {
          agent_id: id,
          public_key,
          capabilities: ["sum"],
          source_relay: source,
          ...(conflict && { id_conflict: true }),
        },
      ],
    },
    { peer: { relayId: via, trust, latencyMs: 1 }, self: alpha.id, isOwn: () => false },
  );
  if (agent === undefined) throw new Error("not taken");
  return { agent, isAdmitted: admitted };
}

const [one, other] = [worker.publicKey, alpha.publicKey];
const ownId = deriveAgentId(one);

describe("D1: of the claims of one id", () => {
  it.each<[string, AgentClaim[], string | null, boolean]>([
    ["a single one stands", [claim(beta.id, one)], one, false],
    ["two under one key agree", [claim(beta.id, one), claim(gamma.id, one)], one, false],
    [
      "two strangers' under two keys are a conflict",
      [claim(beta.id, one), claim(gamma.id, other, { trust: 0.9 })],
      other,
      true,
    ],
    [
      "an admitted peer's stands against a stranger's",
      [claim(beta.id, one, { admitted: true, trust: 0.1 }), claim(gamma.id, other, { trust: 0.9 })],
      one,
      false,
    ],
    [
      "two admitted peers' under two keys are a conflict",
      [
        claim(beta.id, one, { admitted: true }),
        claim(gamma.id, other, { admitted: true, trust: 0.9 }),
      ],
      other,
      true,
    ],
    [
      "what an admitted peer only passes on is a stranger's word",
      [claim(beta.id, one, { admitted: true, source: worker.id }), claim(gamma.id, other)],
      other,
      true,
    ],
    [
      "one under the key of the id stands against a stranger's",
      [
        claim(beta.id, one, { id: ownId, trust: 0.1 }),
        claim(gamma.id, other, { id: ownId, trust: 0.9 }),
      ],
      one,
      false,
    ],
    [
      "one without a key is no conflict",
      [claim(beta.id, null, { trust: 0.9 }), claim(gamma.id, one)],
      one,
      false,
    ],
    [
      "one that its peer knows to be in conflict stays so",
      [claim(beta.id, one, { conflict: true })],
      one,
      true,
    ],
  ])("%s", (_, claims, key, inConflict) => {
    for (const order of [claims, claims.toReversed()]) {
      const judged = resolveClaims(order);
      expect(judged?.public_key).toBe(key);
      expect(judged?.id_conflict === true).toBe(inConflict);
    }
  });

  it("none are no agent", () => {
    expect(resolveClaims([])).toBeUndefined();
  });

  it("at most eight other keys are kept", () => {
    const keys = Array.from({ length: 50 }, (_, at) => (at + 16).toString(16).repeat(32));
    const judged = resolveClaims(keys.map((key) => claim(beta.id, key)));
    expect(judged?.rivals).toHaveLength(8);
  });
});

describe("D1: a submission to a claimed id", () => {
  const conflict = resolveClaims([claim(beta.id, one), claim(gamma.id, other)])!;
  const agreed = resolveClaims([claim(beta.id, one, { admitted: true }), claim(gamma.id, other)])!;

  it("that names no key takes neither of two claims in conflict", () => {
    expect(findClaimWithKey(conflict, undefined)).toBeUndefined();
    expect(findClaimWithKey(agreed, undefined)?.public_key).toBe(one);
  });

  it("that names a key takes the claim under this key or none", () => {
    expect(findClaimWithKey(conflict, one)?.via).toBe(beta.id);
    expect(findClaimWithKey(conflict, other)?.via).toBe(gamma.id);
    expect(findClaimWithKey(agreed, other)?.via).toBe(gamma.id);
    expect(findClaimWithKey(conflict, gamma.publicKey)).toBeUndefined();
  });
});
