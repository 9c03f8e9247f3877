import fc from "fast-check";
import { expect, test } from "vitest";
import { selectFigures, type TaskFigures } from "./select-figures.ts";

const figures = (successes: number, failures = 0): TaskFigures => ({
  successes,
  counted: successes + failures,
  latencyMs: successes * 100,
});

test.each([
  ["those of no task", figures(0), figures(0), figures(0)],
  ["the free ones while no task was paid", figures(0), figures(3, 1), figures(3, 1)],
  ["the paid ones", figures(2, 1), figures(3), figures(2, 1)],
  ["the paid ones without free ones", figures(2), figures(0), figures(2)],
  ["the paid ones although all of them failed", figures(0, 1), figures(1_000), figures(0, 1)],
])("E26: the figures for strangers are %s", (_, paid, free, expected) => {
  expect(selectFigures({ paid, free })).toEqual(expected);
});

test("E26: once a paid task counts, no number of free tasks changes the figures for strangers", () => {
  const count = fc.nat(1_000);
  fc.assert(
    fc.property(count, count, count, count, (successes, failures, freeOnes, freeFailures) => {
      const paid = figures(successes, failures + 1);
      expect(selectFigures({ paid, free: figures(freeOnes, freeFailures) })).toBe(paid);
    }),
  );
});
