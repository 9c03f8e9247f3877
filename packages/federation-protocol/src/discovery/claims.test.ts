import { deriveAgentId } from "@agent/crypto";
import { describe, expect, it } from "vitest";
import { alpha, beta, gamma, worker } from "../../test/messages.ts";
import { findClaimWithKey, resolveClaims, type AgentClaim } from "./claims.ts";
import { parseEntries } from "./entries.ts";

/** A relay's claim about the agent; `source` is another relay if it only forwards the claim. */
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
  if (agent === undefined) throw new Error("entry left out");
  return { agent, isAdmitted: admitted };
}

const [one, other] = [worker.publicKey, alpha.publicKey];
const ownId = deriveAgentId(one);

describe("D1: the claims of one id", () => {
  it.each<[string, AgentClaim[], string | null, boolean]>([
    ["a single one wins", [claim(beta.id, one)], one, false],
    ["two under one key agree", [claim(beta.id, one), claim(gamma.id, one)], one, false],
    [
      "two of unknown relays under two keys are a conflict",
      [claim(beta.id, one), claim(gamma.id, other, { trust: 0.9 })],
      other,
      true,
    ],
    [
      "an admitted peer's wins over an unknown relay's",
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
      "one that an admitted peer only forwards counts as an unknown relay's",
      [claim(beta.id, one, { admitted: true, source: worker.id }), claim(gamma.id, other)],
      other,
      true,
    ],
    [
      "one under the key of the id wins over an unknown relay's",
      [
        claim(beta.id, one, { id: ownId, trust: 0.1 }),
        claim(gamma.id, other, { id: ownId, trust: 0.9 }),
      ],
      one,
      false,
    ],
    [
      "an admitted peer's wins over an unknown relay's under the key of the id",
      [
        claim(beta.id, other, { id: ownId, admitted: true, trust: 0.1 }),
        claim(gamma.id, one, { id: ownId, trust: 0.9 }),
      ],
      other,
      false,
    ],
    [
      "one without a key causes no conflict",
      [claim(beta.id, null, { trust: 0.9 }), claim(gamma.id, one)],
      one,
      false,
    ],
    [
      "one that its peer marks as in conflict stays in conflict",
      [claim(beta.id, one, { conflict: true })],
      one,
      true,
    ],
  ])("of the claims of one id, %s", (_, claims, key, inConflict) => {
    for (const order of [claims, claims.toReversed()]) {
      const resolved = resolveClaims(order);
      expect(resolved?.public_key).toBe(key);
      expect(resolved?.id_conflict === true).toBe(inConflict);
    }
  });

  it("an id without claims resolves to no agent", () => {
    expect(resolveClaims([])).toBeUndefined();
  });

  it("an agent's rivals are the claims under other keys, one for each key", () => {
    const resolved = resolveClaims([
      claim(beta.id, one, { admitted: true }),
      claim(gamma.id, one),
      claim(gamma.id, null),
      claim(gamma.id, other),
      claim(worker.id, other),
    ]);
    expect(resolved?.rivals.map(({ public_key }) => public_key)).toEqual([other]);
  });

  it("at most eight other keys of an id are listed", () => {
    const keys = Array.from({ length: 50 }, (_, at) => (at + 16).toString(16).repeat(32));
    const resolved = resolveClaims(keys.map((key) => claim(beta.id, key)));
    expect(resolved?.rivals).toHaveLength(8);
  });
});

describe("D1: a submission to a claimed id", () => {
  const conflict = resolveClaims([claim(beta.id, one), claim(gamma.id, other)])!;
  const agreed = resolveClaims([claim(beta.id, one, { admitted: true }), claim(gamma.id, other)])!;

  it("D1: a submission to a claimed id without a key selects neither of two claims in conflict", () => {
    expect(findClaimWithKey(conflict, undefined)).toBeUndefined();
    expect(findClaimWithKey(agreed, undefined)?.public_key).toBe(one);
  });

  it("D1: a submission to a claimed id with a key selects the claim under this key or none", () => {
    expect(findClaimWithKey(conflict, one)?.via).toBe(beta.id);
    expect(findClaimWithKey(conflict, other)?.via).toBe(gamma.id);
    expect(findClaimWithKey(agreed, other)?.via).toBe(gamma.id);
    expect(findClaimWithKey(conflict, gamma.publicKey)).toBeUndefined();
  });
});
