import { expect, test } from "vitest";
import { isPaidPrice } from "./task-origin.ts";

test.each([
  [0, false],
  [0.000_999, false],
  [0.001, true],
  [2, true],
  [1_000_000_000, true],
  [-2, false],
  [Number.NaN, false],
  [Number.POSITIVE_INFINITY, false],
  [0.001_000_000_1, false],
])("a price of %s US dollars makes a task a paid one: %s", (price, expected) => {
  expect(isPaidPrice(price)).toBe(expected);
});
