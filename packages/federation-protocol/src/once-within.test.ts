import { expect, it } from "vitest";
import { OnceWithin } from "./once-within.ts";

it("A key is new once within its time, the last millisecond included", () => {
  const once = new OnceWithin(30_000);
  expect(once.take("query", 0)).toBe(true);
  expect(once.take("query", 30_000)).toBe(false);
  expect(once.take("other", 30_000)).toBe(true);
  expect(once.take("query", 30_001)).toBe(true);
  expect(once.take("other", 30_001)).toBe(false);
});

it("No more keys than the capacity are remembered, and the oldest go first", () => {
  const once = new OnceWithin(30_000, 2);
  for (const key of ["a", "b", "c"]) once.take(key, 0);
  expect(["b", "c"].map((key) => once.take(key, 0))).toEqual([false, false]);
  expect(once.take("a", 0)).toBe(true);
});
