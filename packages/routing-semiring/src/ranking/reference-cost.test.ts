import { describe, expect, test } from "vitest";
import { MeanCost, MedianCostOfMostTrusted } from "./reference-cost.ts";

type Candidates = readonly (readonly [cost: number, trust: number])[];

const medianOf = (candidates: Candidates) => {
  const reference = new MedianCostOfMostTrusted();
  for (const [cost, trust] of candidates) reference.add(cost, trust);
  return reference.compute();
};

describe("the median cost of the most trusted candidates", () => {
  test.each<[string, Candidates, number]>([
    ["no candidate", [], 0],
    ["one candidate", [[2, 0.1]], 2],
    [
      "equal trust, an odd number",
      [
        [5, 0.1],
        [1, 0.1],
        [3, 0.1],
      ],
      3,
    ],
    [
      "equal trust, an even number: the lower one",
      [
        [5, 0.1],
        [1, 0.1],
      ],
      1,
    ],
    [
      "less trusted candidates before and after",
      [
        [1e9, 0.1],
        [2, 0.9],
        [0.000001, 0.3],
      ],
      2,
    ],
    [
      "trust that differs by a float error alone",
      [
        [1, 0.9 * 0.9 * 0.3],
        [3, 0.3 * 0.9 * 0.9],
        [2, 0.243],
      ],
      2,
    ],
    [
      "verified candidates beside trusted ones",
      [
        [1, 0.9],
        [2, 0.6],
        [3, 0.81],
        [9, 0.59],
      ],
      2,
    ],
    [
      "free candidates, which have no price to compare with",
      [
        [0, 0.9],
        [0, 0.9],
        [4, 0.3],
      ],
      4,
    ],
    ["free candidates alone", [[0, 0.9]], 0],
    [
      "fewer listings of 1e9 than others",
      [
        [1, 0.1],
        [1, 0.1],
        [2, 0.1],
        [1e9, 0.1],
        [1e9, 0.1],
      ],
      2,
    ],
  ])("MN55: %s", (_title, candidates, expected) => {
    expect(medianOf(candidates)).toBe(expected);
    expect(medianOf(candidates.toReversed())).toBe(expected);
  });
});

test("the mean cost counts each candidate, whatever its trust", () => {
  const reference = new MeanCost();
  expect(reference.compute()).toBe(0);
  for (const cost of [0.1, 0.2, 0]) reference.add(cost);
  expect(reference.compute()).toBe(0.1);
});
