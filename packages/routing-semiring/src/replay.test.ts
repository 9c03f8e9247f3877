import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Candidate } from "./ranking/candidate.ts";
import { Graph } from "./graph/graph.ts";
import { rank, type RankOptions, type RoutingChoice } from "./ranking/rank.ts";
import {
  rankAndRecord,
  rankRecorded,
  replayRanking,
  type RecordExcerpt,
  type RoutingRecord,
} from "./replay.ts";
import { drawRandom } from "./ranking/explore.ts";

const ids = ["self", "a", "b", "c", "d", "e", "f"];
const share = fc.double({ min: 0, max: 1, noNaN: true });
const figures = fc.record({
  trust: fc.oneof(share, fc.constantFrom(0.9, 0.8, 0.72, 1)),
  cost: fc.constantFrom(0, 1, 2.5),
  latency: fc.constantFrom(0, 40, 900),
  reliability: share,
});
const hops = fc.array(
  fc.record({ from: fc.constantFrom(...ids), to: fc.constantFrom(...ids), figures }),
  { maxLength: 30 },
);
const candidate = fc.record<Candidate>({
  agent_id: fc.constantFrom(...ids),
  capabilities: fc.subarray(["x", "y"]),
  unit_cost: fc.constantFrom(null, 0, 1, 2, 5),
  trust_score: fc.constantFrom(0.1, 0.3, 0.6, 0.9),
  blocked: fc.boolean(),
  successes: fc.nat(5),
  counted: fc.integer({ min: 5, max: 9 }),
  avg_latency_ms: fc.constantFrom(null, 0, 800, 5_000),
  listing_latency_ms: fc.constantFrom(null, 1_000),
  online: fc.boolean(),
  availability_guarantee: fc.constantFrom(null, 0.5, 1),
});
const candidates = fc.uniqueArray(candidate, { selector: ({ agent_id }) => agent_id });
const demand = fc.record(
  {
    from: fc.constantFrom("self", "a"),
    avoided: fc.subarray(["c", "d"]),
    requiredCapabilities: fc.subarray(["x"]),
    maxBudget: fc.constantFrom(null, 2, 10),
    priceCap: fc.constantFrom(null, 0, 1, 3),
    explorationDrive: share,
    seed: fc.nat(),
  },
  { requiredKeys: [] },
);

function graphOf(
  edges: readonly { from: string; to: string; figures: Parameters<Graph["addEdge"]>[2] }[],
) {
  const graph = new Graph();
  for (const { from, to, figures: each } of edges) graph.addEdge(from, to, each);
  return graph;
}

const asRead = (record: RoutingRecord) => JSON.parse(JSON.stringify(record)) as RoutingRecord;

const many = (count: number, random: (index: number) => Partial<Candidate>): Candidate[] =>
  Array.from({ length: count }, (_, index) => ({
    agent_id: `agent-${String(index).padStart(5, "0")}`,
    capabilities: ["x"],
    unit_cost: 1,
    trust_score: 0.1,
    blocked: false,
    successes: 0,
    counted: 0,
    avg_latency_ms: null,
    listing_latency_ms: null,
    online: true,
    availability_guarantee: null,
    ...random(index),
  }));
const hashInputs = () => "0".repeat(64);

describe("the record of a decision among many candidates", () => {
  test("G3: an excerpt of more than 1000 candidates is replayed to the same choice", () => {
    fc.assert(
      fc.property(
        hops,
        demand,
        fc.nat(),
        fc.integer({ min: 1_001, max: 1_300 }),
        (edges, wanted, salt, count) => {
          const all = many(count, (index) => {
            const draw = drawRandom(salt, String(index));
            return {
              ...(index < ids.length && { agent_id: ids[index]! }),
              unit_cost: Math.round(draw * 40) / 10,
              blocked: draw < 0.1,
              successes: index % 9,
              counted: 9,
              online: index % 2 === 0,
            };
          });
          const options = {
            graph: graphOf(edges),
            ...wanted,
            limit: 8,
            onlyEligible: true,
            hashInputs,
          };
          const { ranking, record } = rankAndRecord(all, options);
          const { hashInputs: _, ...plain } = options;
          expect(ranking).toEqual(rank(all, plain));
          expect(record.candidates.length).toBeLessThanOrEqual(101);
          expect(record.excerpt).toMatchObject({ candidates: count, inputs_hash: hashInputs() });
          expect(record.choice).toEqual(ranking.choice);
          expect(replayRanking(asRead(record))).toEqual(ranking.choice);
          const listed = ranking.ranked.length;
          expect(rankRecorded(asRead(record), listed).ranked).toEqual(ranking.ranked);
        },
      ),
      { numRuns: 60 },
    );
  });

  test("G3: 1000 candidates are all recorded, and more of them without a hash", () => {
    const all = many(1_000, () => ({}));
    const { record } = rankAndRecord(all, { hashInputs });
    expect(record).toMatchObject({ algorithm: "agent-routing@4", candidates: all });
    expect(record.excerpt).toBeUndefined();
    const more = many(1_001, () => ({}));
    expect(rankAndRecord(more).record.candidates).toEqual(more);
  });

  test.each<[string, Partial<RecordExcerpt>]>([
    ["fewer candidates that could be chosen than it keeps", { eligible: 99 }],
    ["fewer candidates than could be chosen", { candidates: 1_000 }],
    ["a negative mean cost", { mean_cost: -1 }],
    ["no mean cost", { mean_cost: Number.NaN }],
  ])("G3: an excerpt with %s is refused", (_, changes) => {
    const { record } = rankAndRecord(
      many(1_001, () => ({})),
      { hashInputs },
    );
    const forged = { ...record, excerpt: { ...record.excerpt!, ...changes } };
    expect(() => replayRanking(forged)).toThrow(RangeError);
  });

  test("G3: an excerpt does not pass as the record of all candidates", () => {
    const { record } = rankAndRecord(
      many(1_001, () => ({})),
      { hashInputs },
    );
    const { excerpt: _, ...whole } = record;
    expect(() => replayRanking(whole)).toThrow(RangeError);
  });
});

describe("rankAndRecord and replayRanking", () => {
  test("a recorded decision equals that of rank and is replayed from its JSON", () => {
    fc.assert(
      fc.property(candidates, hops, demand, (all, edges, wanted) => {
        const options: RankOptions = { ...wanted, graph: graphOf(edges) };
        const { ranking, record } = rankAndRecord(all, options);
        expect(ranking).toEqual(rank(all, options));
        expect(record.choice).toEqual(ranking.choice);
        const made = replayRanking(asRead(record));
        expect(JSON.stringify(made)).toBe(JSON.stringify(record.choice));
      }),
      { numRuns: 1_000 },
    );
  });

  const known: Candidate = {
    agent_id: "b",
    capabilities: ["x"],
    unit_cost: 1,
    trust_score: 0.1,
    blocked: false,
    successes: 1,
    counted: 1,
    avg_latency_ms: 100,
    listing_latency_ms: null,
    online: true,
    availability_guarantee: null,
  };
  const hop = { trust: 0.9, cost: 0, latency: 0, reliability: 1 };

  test("a record contains exactly the hops of the routes", () => {
    const graph = graphOf([
      { from: "self", to: "a", figures: hop },
      { from: "a", to: "b", figures: hop },
      { from: "self", to: "b", figures: { ...hop, trust: 0.5 } },
      { from: "a", to: "z", figures: hop },
    ]);
    const { record } = rankAndRecord([known], { graph });
    expect(record.graph.map(({ from, to }) => `${from} ${to}`).toSorted()).toEqual([
      "a b",
      "self a",
    ]);
    expect(record.choice?.routing_paths).toEqual([["self", "a", "b"]]);
  });

  test("a record with another seed, candidate or weight can replay to another choice", () => {
    const all = ["b", "c", "d", "e"].map((agent_id) => ({ ...known, agent_id }));
    const { record } = rankAndRecord(all, { explorationDrive: 1, seed: 1 });
    const others = Array.from({ length: 20 }, (_, seed) => replayRanking({ ...record, seed }));
    expect(new Set(others.map((choice) => choice?.selected_agent)).size).toBeGreaterThan(1);
    const selected = record.choice?.selected_agent;
    const without = all.filter(({ agent_id }) => agent_id !== selected);
    expect(replayRanking({ ...record, candidates: without })?.selected_agent).not.toBe(selected);
    const weights = { ...record.weights, trust: 10 };
    expect(replayRanking({ ...record, weights })?.composite_score).not.toBe(
      record.choice?.composite_score,
    );
  });

  test("replayRanking ignores the recorded choice", () => {
    const { record } = rankAndRecord([known]);
    expect(replayRanking({ ...record, choice: null })).toEqual(record.choice);
  });

  const routed = (figures: Partial<typeof hop>): Candidate => ({
    ...known,
    route: { ...hop, ...figures, path: ["self", "b"] },
  });

  test("replayRanking takes a route whose sums are above the maximum of one hop", () => {
    const { record } = rankAndRecord([routed({ latency: 1e9 + 50, cost: 2e9 })]);
    expect(replayRanking(record)).toEqual(record.choice);
    expect(record.choice?.selected_agent).toBe("b");
  });

  test("a record of an earlier version is replayed by its rules", () => {
    const [cheap, dear] = [
      { ...known, agent_id: "a", unit_cost: 1, trust_score: 0.9 },
      { ...known, agent_id: "b", unit_cost: 50, trust_score: 0.9 },
    ];
    const strange = { ...known, agent_id: "c", unit_cost: 1e9, trust_score: 0.1 };
    const { record } = rankAndRecord([cheap, dear, strange]);
    const earlier = { ...record, algorithm: "agent-routing@1" };
    const costOf = (choice: RoutingChoice | null) => choice?.sub_scores.cost;
    expect(costOf(replayRanking(record))).toBe(0.5);
    expect(costOf(replayRanking(earlier))).toBeGreaterThan(0.999);
  });

  test.each<[string, Partial<RoutingRecord>]>([
    ["with another algorithm", { algorithm: "agent-routing@3" }],
    [
      "with a price cap that its algorithm does not support (A12)",
      { algorithm: "agent-routing@1", price_cap: 1 },
    ],
    ["without the price cap of its algorithm (A12)", { algorithm: "agent-routing@2" }],
    ["with an invalid graph", { graph: [{ from: "self", to: "b", ...hop, trust: 2 }] }],
    ["with a route of negative latency", { candidates: [routed({ latency: -5_001 })] }],
    ["with a route of negative cost", { candidates: [routed({ cost: -1 })] }],
    ["with a route of endless cost", { candidates: [routed({ cost: Infinity })] }],
    ["with a route of a trust above 1", { candidates: [routed({ trust: 1e308 })] }],
    ["with a route without reliability", { candidates: [routed({ reliability: Number.NaN })] }],
    ["with invalid weights", { weights: { ...rankAndRecord([]).record.weights, trust: -1 } }],
  ])("replayRanking throws for a record %s", (_, change) => {
    const { record } = rankAndRecord([known]);
    expect(() => replayRanking({ ...record, ...change })).toThrow(RangeError);
  });
});
