import { expect, test } from "vitest";
import { getFreshness } from "./freshness.ts";

const MINUTE = 60_000;
const now = 1_760_000_000_000;

test.each([
  [0, "awake"],
  [6 * MINUTE - 1, "awake"],
  [6 * MINUTE, "recent"],
  [30 * MINUTE - 1, "recent"],
  [30 * MINUTE, "dormant"],
  [24 * 60 * MINUTE - 1, "dormant"],
  [24 * 60 * MINUTE, "cold"],
] as const)("an agent that was seen %i ms ago is %s", (age, freshness) => {
  expect(getFreshness(now - age, now)).toBe(freshness);
});
