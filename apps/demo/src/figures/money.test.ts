import { expect, test } from "vitest";
import { formatChange, formatDollars, toMicro, formatPercent } from "./money.ts";

test.each([
  [0, "0.00"],
  [0.4, "0.40"],
  [2.1, "2.10"],
  [0.000001, "0.000001"],
  [0.0375, "0.037500"],
])("the amount of %d USD is formatted as %s", (amount, text) => {
  expect(formatDollars(amount)).toBe(text);
});

test.each([
  [1, 2.5, "+1.50"],
  [10, 8, "-2.00"],
  [0.3, 0.3, "0.00"],
])("the change from %d to %d is formatted as %s", (before, after, text) => {
  expect(formatChange(before, after)).toBe(text);
});

test("sums of amounts are exact in micro-units", () => {
  expect(toMicro(0.1) + toMicro(0.2)).toBe(toMicro(0.3));
});

test("a rate is formatted as a percentage", () => {
  expect([formatPercent(0.05), formatPercent(0.0725), formatPercent(0)]).toEqual([
    "5 %",
    "7.25 %",
    "0 %",
  ]);
});
