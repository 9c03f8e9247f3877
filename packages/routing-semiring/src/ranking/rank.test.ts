import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Candidate } from "./candidate.ts";
import { Graph } from "../graph/graph.ts";
import { rank, type RankedCandidate, type RankOptions } from "./rank.ts";
import { selectDisplayedLevel, getTrustScore } from "../trust/trust-level.ts";
import { DEFAULT_WEIGHTS } from "../weights.ts";

const plain: Candidate = {
  agent_id: "a",
  capabilities: ["x", "y"],
  unit_cost: 1,
  trust_score: 0.6,
  blocked: false,
  successes: 8,
  counted: 10,
  avg_latency_ms: 5000,
  listing_latency_ms: null,
  online: true,
  availability_guarantee: null,
};

const agent = (agent_id: string, change: Partial<Candidate> = {}): Candidate => ({
  ...plain,
  ...change,
  agent_id,
});

const order = (candidates: Candidate[], options?: RankOptions) =>
  rank(candidates, options).ranked.map(({ agent_id }) => agent_id);

const hop = { trust: 1, cost: 0, latency: 0, reliability: 1 };

describe("the score", () => {
  test("is the sum of the six factors by the weights of the specification", () => {
    const [row] = rank([plain], { requiredCapabilities: ["x"], maxBudget: 4 }).ranked;
    expect(row?.sub_scores).toEqual({
      trust: 0.6,
      success_rate: 0.8,
      latency: 0.5,
      price_efficiency: 0.75,
      capability_match: 1,
      availability: 1,
    });
    expect(row?.composite_score).toBeCloseTo(
      0.25 * 0.6 + 0.25 * 0.8 + 0.15 * 0.5 + 0.15 * 0.75 + 0.1 * 1 + 0.1 * 1,
      12,
    );
  });

  test.each([
    ["trust is the level score without a graph", {}, "trust", 0.6],
    ["success rate is one half without history", { successes: 0, counted: 0 }, "success_rate", 0.5],
    [
      "success rate is successes of all counted",
      { successes: 3, counted: 4 },
      "success_rate",
      0.75,
    ],
    ["latency is 1 - avg / (avg + 5000)", { avg_latency_ms: 1250 }, "latency", 0.8],
    ["a latency of 0 is perfect", { avg_latency_ms: 0 }, "latency", 1],
    [
      "unmeasured latency is the listing's",
      { avg_latency_ms: null, listing_latency_ms: 15_000 },
      "latency",
      0.25,
    ],
    ["measured latency goes before the listing's", { listing_latency_ms: 1 }, "latency", 0.5],
    ["unknown latency is 5000 ms", { avg_latency_ms: null }, "latency", 0.5],
    ["free is efficient", { unit_cost: 0 }, "price_efficiency", 1],
    ["no listed price is free", { unit_cost: null }, "price_efficiency", 1],
    ["online is available", { online: true }, "availability", 1],
    ["offline without a promise is not", { online: false }, "availability", 0],
    [
      "a promise of an agent that is offline counts half",
      { online: false, availability_guarantee: 0.9 },
      "availability",
      0.45,
    ],
  ] as const)("%s", (_, change, factor, expected) => {
    const [row] = rank([agent("a", change)]).ranked;
    expect(row?.sub_scores[factor]).toBeCloseTo(expected, 12);
  });

  test("without a budget measures a price by the mean of the candidates that may be chosen", () => {
    const { ranked } = rank(
      [
        agent("a", { unit_cost: 1 }),
        agent("b", { unit_cost: 3 }),
        agent("blocked", { unit_cost: 1e9, blocked: true }),
        agent("incapable", { unit_cost: 1e9, capabilities: [] }),
      ],
      { requiredCapabilities: ["x"] },
    );
    const efficiency = ranked.map(({ agent_id, sub_scores }) => [
      agent_id,
      sub_scores.price_efficiency,
    ]);
    expect(efficiency.slice(0, 2)).toEqual([
      ["a", 2 / 3],
      ["b", 2 / 5],
    ]);
  });

  test("uses other weights in proportion", () => {
    const onlyLatency = { ...DEFAULT_WEIGHTS, trust: 0, success_rate: 0, price_efficiency: 0 };
    const weights = { ...onlyLatency, capability_match: 0, availability: 0, latency: 7 };
    expect(rank([plain], { weights }).ranked[0]?.composite_score).toBe(0.5);
  });

  test.each([
    ["negative", { trust: -0.1 }],
    ["not a number", { latency: NaN }],
    ["infinite", { availability: Infinity }],
  ])("is not computed by a weight that is %s", (_, change) => {
    expect(() => rank([plain], { weights: { ...DEFAULT_WEIGHTS, ...change } })).toThrow(RangeError);
  });

  test("is not computed by weights that are all 0", () => {
    const zero = 0;
    const weights = {
      trust: zero,
      success_rate: zero,
      latency: zero,
      price_efficiency: zero,
      capability_match: zero,
      availability: zero,
    };
    expect(() => rank([plain], { weights })).toThrow(RangeError);
  });
});

describe("a candidate scores 0 and is never chosen", () => {
  test.each([
    ["when it is blocked", { blocked: true }],
    ["when it lacks a required capability", { capabilities: ["x"] }],
    ["when its price is negative", { unit_cost: -1 }],
    ["when its price is not a number", { unit_cost: NaN }],
    ["when its price is infinite", { unit_cost: Infinity }],
    ["when its price is beyond any listing", { unit_cost: 1e9 + 1 }],
  ])("%s", (_, change) => {
    const graph = new Graph();
    graph.addEdge("self", "a", hop);
    for (const explorationDrive of [0, 1]) {
      const { ranked, choice } = rank([agent("a", change)], {
        graph,
        explorationDrive,
        requiredCapabilities: ["x", "y"],
      });
      expect(ranked).toMatchObject([{ composite_score: 0, eligible: false }]);
      expect(choice).toBeNull();
    }
  });

  test("and a blocked one shows no trust, whatever the graph says", () => {
    const graph = new Graph();
    graph.addEdge("self", "a", hop);
    const [row] = rank([agent("a", { blocked: true })], { graph }).ranked;
    expect(row?.sub_scores.trust).toBe(0);
  });
});

describe("a candidate is never chosen", () => {
  test("above the budget, though it is shown with its score", () => {
    const dear = agent("dear", { unit_cost: 5, trust_score: 1, successes: 10 });
    const { ranked, choice } = rank([dear, agent("cheap", { trust_score: 0.1 })], {
      maxBudget: 4.999999,
    });
    expect(ranked.map((row) => [row.agent_id, row.affordable, row.eligible])).toEqual([
      ["dear", false, false],
      ["cheap", true, true],
    ]);
    expect(ranked[0]?.composite_score).toBeGreaterThan(0);
    expect(choice).toMatchObject({ selected_agent: "cheap", alternatives_considered: 0 });
  });

  test.each([
    ["at the budget is within it", 5, 5, true],
    ["at the budget but for float error is within it", 0.1 + 0.2, 0.3, true],
    ["a micro-unit above is not", 5.000001, 5, false],
    ["free is within a budget of 0", 0, 0, true],
    ["nothing is within a budget that is not a number", 0, NaN, false],
    ["nothing is within a negative budget", 0, -1, false],
    ["anything valid is within no budget", 1e9, null, true],
  ])("%s", (_, unit_cost, maxBudget, affordable) => {
    const { ranked, choice } = rank([agent("a", { unit_cost })], { maxBudget });
    expect(ranked[0]?.affordable).toBe(affordable);
    expect(choice !== null).toBe(affordable);
  });

  test("when it is the asking agent", () => {
    const graph = new Graph();
    graph.addEdge("me", "a", hop);
    const { ranked, choice } = rank([agent("me", { trust_score: 0.1 }), agent("a")], {
      graph,
      from: "me",
    });
    expect(ranked.find(({ agent_id }) => agent_id === "me")).toMatchObject({
      eligible: false,
      sub_scores: { trust: 0.1 },
    });
    expect(choice?.selected_agent).toBe("a");
  });
});

describe("without candidates", () => {
  test.each([0, 1])("nobody is chosen, with an exploration drive of %d", (explorationDrive) => {
    expect(rank([], { explorationDrive, maxBudget: 1 })).toMatchObject({
      ranked: [],
      choice: null,
      algorithm: "agent-routing@1",
    });
  });
});

describe("a route through the graph", () => {
  const graph = new Graph();
  graph.addEdge("self", "relay:local", hop);
  graph.addEdge("relay:local", "relay:remote", { ...hop, trust: 0.9, cost: 0.5, latency: 1000 });
  graph.addEdge("relay:remote", "far", { ...hop, trust: 0.9, latency: 4000, reliability: 0.5 });
  graph.addEdge("self", "near", { ...hop, trust: 0.3 });

  test("gives its trust, adds its cost and latency, and lowers the success rate", () => {
    const far = agent("far", { avg_latency_ms: 0, trust_score: 1 });
    const [row] = rank([far], { graph, maxBudget: 3 }).ranked;
    expect(row).toMatchObject({
      path: ["self", "relay:local", "relay:remote", "far"],
      hops: 3,
      cost: 1.5,
    });
    expect(row?.sub_scores.trust).toBeCloseTo(0.81, 12);
    expect(row?.sub_scores).toMatchObject({
      latency: 0.5,
      success_rate: 0.4,
      price_efficiency: 0.5,
    });
  });

  test("competes with local ones in one ranking", () => {
    const far = agent("far", { avg_latency_ms: 0 });
    expect(order([far, agent("near", { avg_latency_ms: 9000 })], { graph })).toEqual([
      "far",
      "near",
    ]);
    expect(order([far, agent("near", { successes: 10 })], { graph })).toEqual(["near", "far"]);
  });

  test("may make a candidate too dear", () => {
    expect(rank([agent("far")], { graph, maxBudget: 1.49 }).choice).toBeNull();
    expect(rank([agent("far")], { graph, maxBudget: 1.5 }).choice).not.toBeNull();
  });

  test("is the direct one, with the level score, where the graph has none", () => {
    const [row] = rank([agent("stranger", { trust_score: 0.1 })], { graph }).ranked;
    expect(row).toMatchObject({ path: ["self", "stranger"], hops: 1, cost: 1 });
    expect(row?.sub_scores.trust).toBe(0.1);
  });

  test("is shown from self, whatever the graph calls the asking agent", () => {
    const named = new Graph();
    named.addEdge("payer", "a", hop);
    expect(rank([plain], { graph: named, from: "payer" }).choice?.routing_paths).toEqual([
      ["self", "a"],
    ]);
  });
});

describe("equal scores are ordered by", () => {
  const equal = { trust_score: 0.25, unit_cost: 0 };

  test("fewer hops, though the larger id", () => {
    const graph = new Graph();
    graph.addEdge("self", "m", { ...hop, trust: 0.5 });
    graph.addEdge("m", "a", { ...hop, trust: 0.5 });
    graph.addEdge("self", "b", { ...hop, trust: 0.25 });
    expect(order([agent("a", equal), agent("b", equal)], { graph })).toEqual(["b", "a"]);
  });

  test("lower cost, though the larger id", () => {
    const weights = { ...DEFAULT_WEIGHTS, price_efficiency: 0 };
    const candidates = [agent("a", { unit_cost: 2 }), agent("b", { unit_cost: 1 })];
    expect(order(candidates, { weights })).toEqual(["b", "a"]);
  });

  test("lower cost, though floats make the dearer one better by a hair", () => {
    const slim = { trust_score: 0.3, successes: 6 };
    const candidates = [
      agent("a", { ...slim, avg_latency_ms: 5_000, unit_cost: 3 }),
      agent("b", { ...slim, avg_latency_ms: 15_000, unit_cost: 2 }),
    ];
    expect(order(candidates, { maxBudget: 4 })).toEqual(["b", "a"]);
  });

  test("agent id at last", () => {
    expect(order([agent("b"), agent("c"), agent("a")])).toEqual(["a", "b", "c"]);
  });
});

describe("the choice", () => {
  test("is explained: four figures, the path from self, the alternatives", () => {
    const { choice } = rank([plain, agent("b"), agent("c", { blocked: true })], { maxBudget: 4 });
    expect(choice).toEqual({
      selected_agent: "a",
      composite_score: rank([plain], { maxBudget: 4 }).ranked[0]?.composite_score,
      sub_scores: { trust: 0.6, cost: 0.75, latency: 0.5, reliability: 0.8 },
      routing_paths: [["self", "a"]],
      alternatives_considered: 1,
    });
  });

  test.each([
    [0, []],
    [1, ["a"]],
    [2, ["a", "b"]],
    [1e9, ["a", "b", "c"]],
    [-1, []],
    [NaN, []],
  ])("does not depend on a limit of %d, which only shortens the list", (limit, listed) => {
    const { ranked, choice } = rank([agent("c"), agent("b"), plain], { limit });
    expect(ranked.map(({ agent_id }) => agent_id)).toEqual(listed);
    expect(choice?.selected_agent).toBe("a");
  });
});

test("a ring of agents that only praise each other ranks below one that others paid", () => {
  const graph = new Graph();
  const ring = Array.from({ length: 10 }, (_, index) => `ring-${index}`);
  for (const from of ring) {
    for (const to of ring) if (from !== to) graph.addEdge(from, to, { ...hop, trust: 0.9 });
  }
  const praised = {
    successes: 1000,
    counted: 1000,
    trust_score: getTrustScore(selectDisplayedLevel(null, [])),
  };
  const candidates = ring.map((id) => agent(id, praised));
  const paid = getTrustScore(
    selectDisplayedLevel(
      null,
      Array.from({ length: 20 }, () => "first_contact"),
    ),
  );
  candidates.push(agent("honest", { trust_score: paid, successes: 20, counted: 20 }));
  expect(rank(candidates, { graph }).choice?.selected_agent).toBe("honest");
});

const anyNumber = fc.oneof(
  fc.double(),
  fc.constantFrom(0, -0, -1, NaN, Infinity, -Infinity, 1e308, 5e-324),
);
const anyCandidate = (agent_id: string) =>
  fc.record({
    agent_id: fc.constant(agent_id),
    capabilities: fc.subarray(["x", "y"]),
    unit_cost: fc.option(anyNumber),
    trust_score: anyNumber,
    blocked: fc.boolean(),
    successes: anyNumber,
    counted: anyNumber,
    avg_latency_ms: fc.option(anyNumber),
    listing_latency_ms: fc.option(anyNumber),
    online: fc.boolean(),
    availability_guarantee: fc.option(anyNumber),
  });

test("whatever the figures are, every score is in 0..1 and none is NaN", () => {
  const candidates = fc.tuple(...["a", "b", "c", "d"].map(anyCandidate));
  fc.assert(
    fc.property(
      candidates,
      fc.option(anyNumber),
      anyNumber,
      (each, maxBudget, explorationDrive) => {
        const { ranked, choice } = rank(each, {
          requiredCapabilities: ["x"],
          maxBudget,
          explorationDrive,
        });
        for (const { composite_score, sub_scores } of [...ranked, ...(choice ? [choice] : [])]) {
          for (const score of [composite_score, ...Object.values<number>({ ...sub_scores })]) {
            expect(score).toBeGreaterThanOrEqual(0);
            expect(score).toBeLessThanOrEqual(1);
          }
        }
        for (const { cost } of ranked) expect(cost === null || Number.isFinite(cost)).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});

const figure = fc.constantFrom(0, 0.1, 0.3, 0.6, 0.9, 1);
const goodCandidate = (agent_id: string) =>
  fc.record({
    agent_id: fc.constant(agent_id),
    capabilities: fc.constantFrom(["x"], ["x", "y"], []),
    unit_cost: fc.option(fc.constantFrom(0, 0.1, 0.2, 0.3, 7)),
    trust_score: figure,
    blocked: fc.boolean(),
    successes: fc.constantFrom(0, 1, 2),
    counted: fc.constantFrom(0, 2),
    avg_latency_ms: fc.option(fc.constantFrom(0, 5000)),
    listing_latency_ms: fc.option(fc.constantFrom(0, 5000)),
    online: fc.boolean(),
    availability_guarantee: fc.option(figure),
  });

test.each([
  ["without exploration", 0],
  ["and with it, by the same seed", 1],
])("the order of the candidates changes nothing %s", (_, explorationDrive) => {
  const shuffled = fc
    .tuple(...["a", "b", "c", "d", "e"].map(goodCandidate))
    .chain((each) => fc.tuple(fc.constant(each), fc.shuffledSubarray(each, { minLength: 5 })));
  const graph = new Graph();
  graph.addEdge("self", "a", { ...hop, trust: 0.6 });
  graph.addEdge("a", "b", { ...hop, trust: 0.6, cost: 0.1 });
  fc.assert(
    fc.property(shuffled, fc.nat(), ([one, other], seed) => {
      const options = { graph, requiredCapabilities: ["x"], explorationDrive, seed };
      expect(rank(other, options)).toEqual(rank(one, options));
    }),
    { numRuns: 200 },
  );
});

describe("a route that a candidate brings along", () => {
  const route = {
    path: ["self", "relay:local", "relay:remote", "b"],
    trust: 0.3,
    cost: 0.5,
    latency: 1_000,
    reliability: 0.5,
  };

  test("counts with its figures, its hops and its path", () => {
    const [row] = rank([agent("b", { route })], { requiredCapabilities: ["x"] }).ranked;
    expect(row).toMatchObject({ path: route.path, hops: 3, cost: 1.5 });
    expect(row?.sub_scores).toMatchObject({ trust: 0.3, success_rate: 0.4, latency: 5 / 11 });
  });

  test("counts instead of one through the graph", () => {
    const graph = new Graph();
    graph.addEdge("self", "b", hop);
    const [row] = rank([agent("b", { route })], { graph }).ranked;
    expect(row).toMatchObject({ path: route.path, sub_scores: { trust: 0.3 } });
  });

  test("competes with those that are reached directly", () => {
    const direct = agent("a", { trust_score: 0.3 });
    const far = agent("b", { trust_score: 0.9, route: { ...route, cost: 0, reliability: 1 } });
    expect(order([far, direct])).toEqual(["a", "b"]);
    expect(order([{ ...far, route: { ...far.route!, trust: 0.9, latency: 0 } }, direct])).toEqual([
      "b",
      "a",
    ]);
  });
});

describe("A12: a price cap", () => {
  const cheap = agent("cheap", { unit_cost: 1, trust_score: 0.3 });
  const fair = agent("fair", { unit_cost: 2, trust_score: 0.4 });
  const dear = agent("dear", { unit_cost: 500, trust_score: 0.9 });
  const all = [cheap, fair, dear];
  const scored = ({ agent_id, composite_score, sub_scores }: RankedCandidate) => ({
    agent_id,
    composite_score,
    sub_scores,
  });

  test.each<[priceCap: number | null, chosen: string | undefined]>([
    [null, "dear"],
    [500, "dear"],
    [499.999999, "fair"],
    [2, "fair"],
    [1, "cheap"],
    [0.999999, undefined],
    [0, undefined],
  ])("A12: of %f leads to the best candidate that it covers: %s", (priceCap, chosen) => {
    const { ranked, choice } = rank(all, { priceCap });
    expect(ranked.map(scored)).toEqual(rank(all).ranked.map(scored));
    expect(choice?.selected_agent).toBe(chosen);
  });

  test("A12: that equals the price leaves the price its score, unlike a budget", () => {
    const [capped] = rank([fair], { priceCap: 2 }).ranked;
    const [budgeted] = rank([fair], { maxBudget: 2 }).ranked;
    expect(capped?.sub_scores.price_efficiency).toBe(0.5);
    expect(budgeted?.sub_scores.price_efficiency).toBe(0);
    expect(capped).toEqual(rank([fair]).ranked[0]);
  });

  test("A12: counts beside a budget, and only what may be chosen is listed when asked so", () => {
    const options = { priceCap: 400, maxBudget: 1_000, onlyEligible: true };
    expect(order(all, options).toSorted()).toEqual(["cheap", "fair"]);
    expect(order(all, { ...options, limit: 1 })).toHaveLength(1);
  });

  test("A12: never changes a choice that it covers, with or without exploration", () => {
    const prices = fc.array(fc.constantFrom(0, 1, 2, 7), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(
        prices,
        fc.constantFrom(0, 1, 2, 7, 9),
        fc.constantFrom(0, 0.5, 1),
        fc.nat(),
        (costs, priceCap, explorationDrive, seed) => {
          const each = costs.map((unit_cost, i) =>
            agent(`a${i}`, { unit_cost, trust_score: i / 10 }),
          );
          const free = rank(each, { explorationDrive, seed });
          const capped = rank(each, { explorationDrive, seed, priceCap });
          const costOf = (id?: string) => each.find(({ agent_id }) => agent_id === id)?.unit_cost;
          const [before, after] = [free, capped].map(({ choice }) => choice?.selected_agent);
          const isCovered = (costOf(before) ?? Infinity) <= priceCap;
          expect(isCovered ? after === before : (costOf(after) ?? 0) <= priceCap).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });
});
