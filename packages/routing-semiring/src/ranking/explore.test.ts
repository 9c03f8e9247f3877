import { describe, expect, test } from "vitest";
import type { Candidate } from "./candidate.ts";
import { drawRandom, shouldExplore, shiftWeights } from "./explore.ts";
import { rank } from "./rank.ts";
import { DEFAULT_WEIGHTS } from "../weights.ts";

const seeds = Array.from({ length: 2000 }, (_, index) => index * 2_147_483);

const candidates: Candidate[] = ["best", "b", "c", "d"].map((agent_id) => ({
  agent_id,
  capabilities: [],
  unit_cost: 0,
  trust_score: agent_id === "best" ? 0.9 : 0.1,
  blocked: false,
  successes: 0,
  counted: 0,
  avg_latency_ms: null,
  listing_latency_ms: null,
  online: true,
  availability_guarantee: null,
}));

const winners = (explorationDrive: number) => {
  const counts: Record<string, number> = {};
  for (const seed of seeds) {
    const winner = rank(candidates, { explorationDrive, seed }).choice?.selected_agent ?? "";
    counts[winner] = (counts[winner] ?? 0) + 1;
  }
  return counts;
};

describe("rank with an exploration drive", () => {
  test.each([
    [0, [0.25, 0.25, 0.1, 0.1]],
    [0.5, [0.1875, 0.1875, 0.1625, 0.1625]],
    [1, [0.125, 0.125, 0.225, 0.225]],
  ])(
    "an exploration drive of %d moves weight to availability and capability match",
    (drive, expected) => {
      const weights = shiftWeights(DEFAULT_WEIGHTS, drive);
      const { trust, success_rate, capability_match, availability, latency, price_efficiency } =
        weights;
      const moved = [trust, success_rate, capability_match, availability];
      for (const [index, weight] of moved.entries())
        expect(weight).toBeCloseTo(expected[index]!, 12);
      expect([latency, price_efficiency]).toEqual([0.15, 0.15]);
      expect(Object.values<number>({ ...weights }).reduce((sum, each) => sum + each)).toBeCloseTo(
        1,
        12,
      );
    },
  );

  test("an exploration drive of 0 chooses the best candidate for every seed", () => {
    expect(winners(0)).toEqual({ best: 2000 });
  });

  test("an exploration drive of 1 draws uniformly from the eligible candidates", () => {
    const counts = Object.values(winners(1));
    expect(counts).toHaveLength(4);
    for (const count of counts) {
      expect(count).toBeGreaterThan(420);
      expect(count).toBeLessThan(580);
    }
  });

  test("an exploration drive of 0.4 draws in two of five decisions", () => {
    // Expected: 0.6 + 0.4 / 4 of 2000.
    expect(winners(0.4)["best"]).toBeGreaterThan(1330);
    expect(winners(0.4)["best"]).toBeLessThan(1470);
  });

  test("exploration never draws a candidate that is not eligible", () => {
    const some = candidates.map((each) => ({ ...each, blocked: each.agent_id !== "d" }));
    const drawn = seeds
      .slice(0, 200)
      .map((seed) => rank(some, { explorationDrive: 1, seed }).choice?.selected_agent);
    expect(new Set(drawn)).toEqual(new Set(["d"]));
  });

  test.each([
    [-1, 0],
    [NaN, 0],
    [7, 1],
  ])("an exploration drive of %d is clamped to %d", (given, taken) => {
    for (const seed of seeds.slice(0, 50)) {
      expect(rank(candidates, { explorationDrive: given, seed })).toEqual(
        rank(candidates, { explorationDrive: taken, seed }),
      );
    }
  });

  test("a ranking states whether it explored and by which seed", () => {
    expect(rank(candidates, { explorationDrive: 1, seed: 7 })).toMatchObject({
      explored: true,
      seed: 7,
    });
    expect(rank(candidates, { seed: 7 })).toMatchObject({ explored: false, seed: 7 });
  });

  test("exploration keeps the list in the order of scores", () => {
    for (const seed of seeds.slice(0, 20)) {
      expect(rank(candidates, { explorationDrive: 1, seed }).ranked[0]?.agent_id).toBe("best");
    }
  });
});

describe("drawRandom", () => {
  test("drawRandom is repeatable", () => {
    expect(drawRandom(7, "a")).toBe(drawRandom(7, "a"));
  });

  test("drawRandom differs by seed and by name", () => {
    expect(
      new Set([drawRandom(7, "a"), drawRandom(8, "a"), drawRandom(7, "b"), drawRandom(7, "")]).size,
    ).toBe(4);
  });

  test("drawRandom is uniform over the tenths of 0..1", () => {
    const tenths = Array.from({ length: 10 }, () => 0);
    for (const seed of seeds) {
      for (const name of ["", "0198c0de-0000-7000-8000-000000000001", "relay:remote"]) {
        const drawn = drawRandom(seed, name);
        expect(drawn).toBeGreaterThanOrEqual(0);
        expect(drawn).toBeLessThan(1);
        tenths[Math.floor(drawn * 10)]! += 1;
      }
    }
    // Expected: 600 in each; four standard deviations are 93.
    for (const count of tenths) expect(Math.abs(count - 600)).toBeLessThan(93);
  });

  test("shouldExplore is never true at 0 and always at 1", () => {
    expect(seeds.some((seed) => shouldExplore(seed, 0))).toBe(false);
    expect(seeds.every((seed) => shouldExplore(seed, 1))).toBe(true);
  });
});
