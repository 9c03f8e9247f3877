import { expect, it } from "vitest";
import { ReplayCache } from "./replay-cache.ts";

it("a key is reported as new once within its lifetime, the last millisecond included", () => {
  const once = new ReplayCache(30_000);
  expect(once.add("query", 0)).toBe(true);
  expect(once.add("query", 30_000)).toBe(false);
  expect(once.add("other", 30_000)).toBe(true);
  expect(once.add("query", 30_001)).toBe(true);
  expect(once.add("other", 30_001)).toBe(false);
});

it("the cache stores as many keys as its capacity and drops the oldest first", () => {
  const once = new ReplayCache(30_000, 2);
  for (const key of ["a", "b", "c"]) once.add(key, 0);
  expect(["b", "c"].map((key) => once.add(key, 0))).toEqual([false, false]);
  expect(once.add("a", 0)).toBe(true);
});
