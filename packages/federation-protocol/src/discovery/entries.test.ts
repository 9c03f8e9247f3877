import { describe, expect, it } from "vitest";
import { alpha, beta, gamma, worker } from "../../test/messages.ts";
import { mergeEntries, parseEntries, toRemoteAgent } from "./entries.ts";

const entry = {
  agent_id: worker.id,
  public_key: worker.publicKey,
  capabilities: ["sum"],
  trust: 0.6,
  latency_ms: 40,
  cost: 1,
  source_relay: beta.id,
  hop_distance: 0,
};
const context = {
  peer: { relayId: beta.id, trust: 0.5, latencyMs: 60 },
  self: alpha.id,
  isOwn: () => false,
};
const take = (...agents: readonly unknown[]) => parseEntries({ agents }, context);

describe("An entry of a peer's answer", () => {
  it("an entry of a peer's answer has its trust multiplied by the peer's and the peer's latency added", () => {
    expect(take(entry)).toEqual([
      expect.objectContaining({ trust: 0.3, latency_ms: 100, via: beta.id, hop_distance: 1 }),
    ]);
  });

  it.each([
    [{ hop_distance: 0 }, 1],
    [{ hop_distance: -1 }, 1],
    [{ hop_distance: 1 }, 1],
    [{ source_relay: undefined }, 1],
    [{ source_relay: gamma.id, hop_distance: 1 }, 2],
    [{ source_relay: gamma.id, hop_distance: 0 }, 2],
    [{ source_relay: gamma.id, hop_distance: -5 }, 2],
    [{ source_relay: gamma.id, hop_distance: 0.5 }, 2],
    [{ source_relay: gamma.id, hop_distance: 2 }, 3],
  ])("an entry with %o gets the distance of %s hops (F12)", (change, distance) => {
    expect(take({ ...entry, ...change })[0]?.hop_distance).toBe(distance);
  });

  it.each<[string, unknown]>([
    ["trust above 1 (F21)", { ...entry, trust: 1.5 }],
    ["trust that is not a number (F21)", { ...entry, trust: "1" }],
    ["infinite latency", { ...entry, latency_ms: Infinity }],
    ["a negative price", { ...entry, cost: -1 }],
    ["an id that is not a UUID", { ...entry, agent_id: "worker" }],
    ["a malformed key", { ...entry, public_key: "abc" }],
    ["nothing", null],
    ["an agent of which this relay is the source", { ...entry, source_relay: alpha.id }],
  ])("an entry of a peer's answer is left out with %s, without effect on others", (_, bad) => {
    expect(take(bad, entry)).toHaveLength(1);
  });

  it("an entry of a peer's answer is left out if it lacks the capability that was asked for", () => {
    const other = { ...entry, agent_id: gamma.id, capabilities: ["product"] };
    const listFor = (capability?: string) =>
      parseEntries({ agents: [entry, other] }, { ...context, capability }).map(
        (one) => one.agent_id,
      );
    expect(listFor("sum")).toEqual([worker.id]);
    expect(listFor("su")).toEqual([]);
    expect(listFor()).toEqual([worker.id, gamma.id]);
  });

  it.each([
    ["first_contact", 0.9, "trusted", 0.15, "first_contact"],
    ["verified", 0.9, "trusted", 0.3, "verified"],
    ["trusted", 0.9, "trusted", 0.45, "trusted"],
    ["first_contact", undefined, "verified", 0.15, "first_contact"],
    ["first_contact", 0.1, "unknown", 0.05, "unknown"],
  ] as const)(
    "C6: an entry within the limit %s claims trust %s and the level %s, and counts as %d and %s",
    (claimLimit, trust, trust_level, counted, shown) => {
      const agents = [{ ...entry, trust, trust_level }];
      const peer = { ...context.peer, claimLimit };
      expect(parseEntries({ agents }, { ...context, peer })).toMatchObject([
        { trust: counted, trust_level: shown },
      ]);
    },
  );

  it("an entry of a peer's answer may have no key and a trust level instead of a number", () => {
    const { public_key: _, trust: __, ...bare } = entry;
    const trustAt = (trust_level?: string) => take({ ...bare, trust_level })[0];
    expect(trustAt("verified")).toMatchObject({ public_key: null, trust: 0.3 });
    expect(["trusted", "blocked", "first_contact"].map((level) => trustAt(level)?.trust)).toEqual([
      0.45, 0, 0.15,
    ]);
    expect([trustAt("excellent")?.trust, trustAt()?.trust]).toEqual([0.05, 0.05]);
  });

  it("an entry of a peer's answer is left out if it names an agent of this relay, whose own entry wins (F12)", () => {
    const isOwn = (id: string) => id === worker.id;
    expect(parseEntries({ agents: [entry] }, { ...context, isOwn })).toEqual([]);
  });

  it("an entry of a peer's answer is left out after the first 200 (F12)", () => {
    expect(take(...Array.from({ length: 100_000 }, () => entry))).toHaveLength(200);
  });

  it("an entry is passed on without the members that only this relay knows", () => {
    const [known] = take({ ...entry, secret: "x" });
    expect(known && Object.keys(toRemoteAgent(known))).not.toContain("via");
    expect(known && Object.keys(toRemoteAgent(known))).not.toContain("secret");
  });
});

describe("Entries of one agent", () => {
  const [direct] = take(entry);
  const far = parseEntries(
    { agents: [{ ...entry, source_relay: beta.id, hop_distance: 0, trust: 1 }] },
    { ...context, peer: { relayId: gamma.id, trust: 1, latencyMs: 1 } },
  )[0];

  it("entries of one agent are merged into that of the least distance in any order", () => {
    if (!direct || !far) throw new Error("no entries");
    expect(far.hop_distance).toBe(2);
    expect(mergeEntries([[far], [direct]])).toEqual([direct]);
    expect(mergeEntries([[direct], [far]])).toEqual([direct]);
  });

  it("entries at one distance are merged into the most trusted one, then that of the first relay", () => {
    if (!direct) throw new Error("no entry");
    const trusted = { ...direct, trust: 0.9, via: gamma.id };
    expect(mergeEntries([[direct], [trusted]])).toEqual([trusted]);
    const same = { ...direct, via: gamma.id };
    expect(mergeEntries([[same], [direct]])).toEqual([direct]);
    expect(mergeEntries([[direct], [same]])).toEqual([direct]);
  });
});
