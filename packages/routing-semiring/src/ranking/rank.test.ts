import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Candidate } from "./candidate.ts";
import { Graph } from "../graph/graph.ts";
import { rank, type RankedCandidate, type RankOptions } from "./rank.ts";
import { selectDisplayedLevel } from "../trust/payer-backing.ts";
import { getTrustScore } from "../trust/trust-level.ts";
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

test.each([3, 1_000])(
  "rank reads the capabilities of a candidate only about once when %i of them are required",
  (count) => {
    let reads = 0;
    const names = Array.from({ length: count }, (_, index) => `capability ${index}`);
    const capabilities = new Proxy(names, {
      get(target, member, receiver): unknown {
        reads += 1;
        return Reflect.get(target, member, receiver);
      },
    });
    const requiredCapabilities = [...names, ...names].toReversed();
    const options = { requiredCapabilities, limit: 0 };
    expect(rank([agent("a", { capabilities })], options).choice).not.toBeNull();
    // Scores are computed twice: for the order, and for the choice.
    expect(reads).toBeLessThan(2 * (2 * count + 20));
    const more = { ...options, requiredCapabilities: [...requiredCapabilities, "another"] };
    expect(rank([agent("a", { capabilities })], more).choice).toBeNull();
  },
);

describe("the score of rank", () => {
  test("the score is the sum of the six factors by the weights of the specification", () => {
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
    [
      "the success rate is one half without history",
      { successes: 0, counted: 0 },
      "success_rate",
      0.5,
    ],
    [
      "the success rate is the share of successes",
      { successes: 3, counted: 4 },
      "success_rate",
      0.75,
    ],
    ["the latency scores 1 - avg / (avg + 5000)", { avg_latency_ms: 1250 }, "latency", 0.8],
    ["a latency of 0 scores 1", { avg_latency_ms: 0 }, "latency", 1],
    [
      "an unmeasured latency is that of the listing",
      { avg_latency_ms: null, listing_latency_ms: 15_000 },
      "latency",
      0.25,
    ],
    ["a measured latency replaces that of the listing", { listing_latency_ms: 1 }, "latency", 0.5],
    ["an unknown latency is 5000 ms", { avg_latency_ms: null }, "latency", 0.5],
    ["a free candidate has price efficiency 1", { unit_cost: 0 }, "price_efficiency", 1],
    ["a candidate without a listed price is free", { unit_cost: null }, "price_efficiency", 1],
    ["an online candidate has availability 1", { online: true }, "availability", 1],
    [
      "an offline candidate without a promise has availability 0",
      { online: false },
      "availability",
      0,
    ],
    [
      "the promise of an offline candidate counts half",
      { online: false, availability_guarantee: 0.9 },
      "availability",
      0.45,
    ],
  ] as const)("rank: %s", (_, change, factor, expected) => {
    const [row] = rank([agent("a", change)]).ranked;
    expect(row?.sub_scores[factor]).toBeCloseTo(expected, 12);
  });

  test("MN55: agents of another relay, however trusted, do not change the reference among those of this one", () => {
    const route = {
      path: ["self", "peer", "far"],
      trust: 0.9,
      cost: 0,
      latency: 0,
      reliability: 1,
    };
    const far = ["far", "farther"].map((id) => agent(id, { unit_cost: 1e9, route }));
    const near = agent("a", { unit_cost: 2, trust_score: 0.1 });
    const scoreOf = (candidates: readonly Candidate[]) =>
      rank(candidates).ranked.find(({ agent_id }) => agent_id === "a")?.sub_scores.price_efficiency;
    expect(scoreOf([...far, near])).toBe(0.5);
    expect(rank([agent("far", { unit_cost: 3, route })]).ranked[0]?.sub_scores).toMatchObject({
      price_efficiency: 0.5,
    });
  });

  test("without a budget the price is scored by the median of the most trusted capable candidates", () => {
    const { ranked } = rank(
      [
        agent("a", { unit_cost: 2 }),
        agent("b", { unit_cost: 3 }),
        agent("less trusted", { unit_cost: 1e9, trust_score: 0.1 }),
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
      ["a", 1 / 2],
      ["b", 2 / 5],
    ]);
  });

  test("rank uses other weights in proportion", () => {
    const onlyLatency = { ...DEFAULT_WEIGHTS, trust: 0, success_rate: 0, price_efficiency: 0 };
    const weights = { ...onlyLatency, capability_match: 0, availability: 0, latency: 7 };
    expect(rank([plain], { weights }).ranked[0]?.composite_score).toBe(0.5);
  });

  test.each([
    ["negative", { trust: -0.1 }],
    ["not a number", { latency: NaN }],
    ["infinite", { availability: Infinity }],
  ])("rank throws for a weight that is %s", (_, change) => {
    expect(() => rank([plain], { weights: { ...DEFAULT_WEIGHTS, ...change } })).toThrow(RangeError);
  });

  test("rank throws for weights that are all 0", () => {
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

describe("an excluded candidate", () => {
  test.each([
    ["that is blocked", { blocked: true }],
    ["that lacks a required capability", { capabilities: ["x"] }],
    ["with a negative price", { unit_cost: -1 }],
    ["with a price that is not a number", { unit_cost: NaN }],
    ["with an infinite price", { unit_cost: Infinity }],
    ["with a price above that of any listing", { unit_cost: 1e9 + 1 }],
  ])("a candidate %s scores 0 and is never chosen", (_, change) => {
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

  test("a blocked candidate has trust 0, also with a trusted route", () => {
    const graph = new Graph();
    graph.addEdge("self", "a", hop);
    const [row] = rank([agent("a", { blocked: true })], { graph }).ranked;
    expect(row?.sub_scores.trust).toBe(0);
  });
});

describe("a candidate that is not eligible", () => {
  test("a candidate above the budget is listed with its score and never chosen", () => {
    const expensive = agent("expensive", { unit_cost: 5, trust_score: 1, successes: 10 });
    const { ranked, choice } = rank([expensive, agent("cheap", { trust_score: 0.1 })], {
      maxBudget: 4.999999,
    });
    expect(ranked.map((row) => [row.agent_id, row.affordable, row.eligible])).toEqual([
      ["expensive", false, false],
      ["cheap", true, true],
    ]);
    expect(ranked[0]?.composite_score).toBeGreaterThan(0);
    expect(choice).toMatchObject({ selected_agent: "cheap", alternatives_considered: 0 });
  });

  test.each([
    ["a price at the budget is within it", 5, 5, true],
    ["a price at the budget with a float error is within it", 0.1 + 0.2, 0.3, true],
    ["a price a micro-unit above the budget is not within it", 5.000001, 5, false],
    ["a free candidate is within a budget of 0", 0, 0, true],
    ["no price is within a budget that is not a number", 0, NaN, false],
    ["no price is within a negative budget", 0, -1, false],
    ["every valid price is affordable without a budget", 1e9, null, true],
  ])("rank decides about a budget: %s", (_, unit_cost, maxBudget, affordable) => {
    const { ranked, choice } = rank([agent("a", { unit_cost })], { maxBudget });
    expect(ranked[0]?.affordable).toBe(affordable);
    expect(choice !== null).toBe(affordable);
  });

  test("the asking agent is never chosen", () => {
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

describe("rank without candidates", () => {
  test.each([0, 1])(
    "rank without candidates chooses no agent with an exploration drive of %d",
    (explorationDrive) => {
      expect(rank([], { explorationDrive, maxBudget: 1 })).toMatchObject({
        ranked: [],
        choice: null,
      });
    },
  );
});

describe("a route through the graph", () => {
  const graph = new Graph();
  graph.addEdge("self", "relay:local", hop);
  graph.addEdge("relay:local", "relay:remote", { ...hop, trust: 0.9, cost: 0.5, latency: 1000 });
  graph.addEdge("relay:remote", "far", { ...hop, trust: 0.9, latency: 4000, reliability: 0.5 });
  graph.addEdge("self", "near", { ...hop, trust: 0.3 });

  test("a route replaces the trust, adds cost and latency, and lowers the success rate", () => {
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

  test("routed and local candidates compete in one ranking", () => {
    const far = agent("far", { avg_latency_ms: 0 });
    expect(order([far, agent("near", { avg_latency_ms: 9000 })], { graph })).toEqual([
      "far",
      "near",
    ]);
    expect(order([far, agent("near", { successes: 10 })], { graph })).toEqual(["near", "far"]);
  });

  test("the cost of a route can make a candidate too expensive", () => {
    expect(rank([agent("far")], { graph, maxBudget: 1.49 }).choice).toBeNull();
    expect(rank([agent("far")], { graph, maxBudget: 1.5 }).choice).not.toBeNull();
  });

  test("a candidate without a route in the graph is reached directly with its level score", () => {
    const [row] = rank([agent("stranger", { trust_score: 0.1 })], { graph }).ranked;
    expect(row).toMatchObject({ path: ["self", "stranger"], hops: 1, cost: 1 });
    expect(row?.sub_scores.trust).toBe(0.1);
  });

  test("a route is shown from self, regardless of the id of the asking agent", () => {
    const named = new Graph();
    named.addEdge("payer", "a", hop);
    expect(rank([plain], { graph: named, from: "payer" }).choice?.routing_paths).toEqual([
      ["self", "a"],
    ]);
  });
});

describe("the order of equal scores", () => {
  const equal = { trust_score: 0.25, unit_cost: 0 };

  test("equal scores are ordered by fewer hops before the id", () => {
    const graph = new Graph();
    graph.addEdge("self", "m", { ...hop, trust: 0.5 });
    graph.addEdge("m", "a", { ...hop, trust: 0.5 });
    graph.addEdge("self", "b", { ...hop, trust: 0.25 });
    expect(order([agent("a", equal), agent("b", equal)], { graph })).toEqual(["b", "a"]);
  });

  test("equal scores are ordered by lower cost before the id", () => {
    const weights = { ...DEFAULT_WEIGHTS, price_efficiency: 0 };
    const candidates = [agent("a", { unit_cost: 2 }), agent("b", { unit_cost: 1 })];
    expect(order(candidates, { weights })).toEqual(["b", "a"]);
  });

  test("equal scores are ordered by lower cost despite float errors", () => {
    const slim = { trust_score: 0.3, successes: 6 };
    const candidates = [
      agent("a", { ...slim, avg_latency_ms: 5_000, unit_cost: 3 }),
      agent("b", { ...slim, avg_latency_ms: 15_000, unit_cost: 2 }),
    ];
    expect(order(candidates, { maxBudget: 4 })).toEqual(["b", "a"]);
  });

  test("equal scores, hops and costs are ordered by agent id", () => {
    expect(order([agent("b"), agent("c"), agent("a")])).toEqual(["a", "b", "c"]);
  });
});

describe("the choice", () => {
  test("the choice has four scores, the path from self and the number of alternatives", () => {
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
  ])("a limit of %d shortens the list and does not change the choice", (limit, listed) => {
    const { ranked, choice } = rank([agent("c"), agent("b"), plain], { limit });
    expect(ranked.map(({ agent_id }) => agent_id)).toEqual(listed);
    expect(choice?.selected_agent).toBe("a");
  });
});

test("a ring of agents that only trust each other ranks below an agent that others paid", () => {
  const graph = new Graph();
  const ring = Array.from({ length: 10 }, (_, index) => `ring-${index}`);
  for (const from of ring) {
    for (const to of ring) if (from !== to) graph.addEdge(from, to, { ...hop, trust: 0.9 });
  }
  const thresholds = { verified: 50_000, trusted: 500_000 };
  const praised = {
    successes: 1000,
    counted: 1000,
    trust_score: getTrustScore(selectDisplayedLevel(null, [], thresholds)),
  };
  const candidates = ring.map((id) => agent(id, praised));
  const paid = getTrustScore(
    selectDisplayedLevel(
      null,
      Array.from({ length: 20 }, () => ({
        level: "first_contact" as const,
        feesKept: 1,
        paidTasks: 1,
      })),
      thresholds,
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

test("every score is in 0..1 for any input and never NaN", () => {
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
  ["with exploration by the same seed", 1],
])("the order of the candidates does not change the ranking %s", (_, explorationDrive) => {
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

describe("a fixed route of a candidate", () => {
  const route = {
    path: ["self", "relay:local", "relay:remote", "b"],
    trust: 0.3,
    cost: 0.5,
    latency: 1_000,
    reliability: 0.5,
  };

  test("a fixed route counts with its attributes, its hops and its path", () => {
    const [row] = rank([agent("b", { route })], { requiredCapabilities: ["x"] }).ranked;
    expect(row).toMatchObject({ path: route.path, hops: 3, cost: 1.5 });
    expect(row?.sub_scores).toMatchObject({ trust: 0.3, success_rate: 0.4, latency: 5 / 11 });
  });

  test("a fixed route replaces a route through the graph", () => {
    const graph = new Graph();
    graph.addEdge("self", "b", hop);
    const [row] = rank([agent("b", { route })], { graph }).ranked;
    expect(row).toMatchObject({ path: route.path, sub_scores: { trust: 0.3 } });
  });

  test("candidates with a fixed route compete with direct ones", () => {
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
  const expensive = agent("expensive", { unit_cost: 500, trust_score: 0.9 });
  const all = [cheap, fair, expensive];
  const scored = ({ agent_id, composite_score, sub_scores }: RankedCandidate) => ({
    agent_id,
    composite_score,
    sub_scores,
  });

  test.each<[priceCap: number | null, chosen: string | undefined]>([
    [null, "expensive"],
    [500, "expensive"],
    [499.999999, "fair"],
    [2, "fair"],
    [1, "cheap"],
    [0.999999, undefined],
    [0, undefined],
  ])("A12: a price cap of %f selects the best candidate within it: %s", (priceCap, chosen) => {
    const { ranked, choice } = rank(all, { priceCap });
    expect(ranked.map(scored)).toEqual(rank(all).ranked.map(scored));
    expect(choice?.selected_agent).toBe(chosen);
  });

  test("A12: a price cap equal to the price does not change its score, unlike a budget", () => {
    const [capped] = rank([fair], { priceCap: 2 }).ranked;
    const [budgeted] = rank([fair], { maxBudget: 2 }).ranked;
    expect(capped?.sub_scores.price_efficiency).toBe(0.5);
    expect(budgeted?.sub_scores.price_efficiency).toBe(0);
    expect(capped).toEqual(rank([fair]).ranked[0]);
  });

  test("A12: a price cap applies in addition to a budget, and onlyEligible lists eligible candidates only", () => {
    const options = { priceCap: 400, maxBudget: 1_000, onlyEligible: true };
    expect(order(all, options).toSorted()).toEqual(["cheap", "fair"]);
    expect(order(all, { ...options, limit: 1 })).toHaveLength(1);
    expect(order(all, { ...options, maxBudget: 1.5 })).toEqual(["cheap"]);
  });

  test("A12: a price cap never changes a choice within it, with or without exploration", () => {
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
