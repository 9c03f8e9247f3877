import { describe, expect, it, test } from "vitest";
import { BoundedMap } from "./bounded-map.ts";

describe("A bounded map", () => {
  // "+a" sets the key, "-a" deletes it, "?a" reads it, "3s" lets three seconds pass.
  it.each([
    ["keeps as many entries as fit", "+a +b", "a b"],
    ["drops the oldest entry for a new one", "+a +b +c", "b c"],
    ["drops one entry for each new one", "+a +b +c +d", "c d"],
    ["makes an entry that is set again the newest", "+a +b +a +c", "a c"],
    ["does not make an entry newer when it is read", "+a +b ?a +c", "b c"],
    ["drops nothing for the place of a deleted entry", "+a +b -a +c", "b c"],
    ["ends an entry after its lifetime", "+a 4s +b 6s", "b"],
    ["keeps an entry until its lifetime has passed", "+a 9s", "a"],
    ["begins the lifetime of an entry again when it is set", "+a 9s +a 9s", "a"],
    ["deletes an expired entry when it is read", "+a +b 9s +b 1s ?a +c", "b c"],
  ])("a bounded map %s", (_, steps, expected) => {
    let now = 0;
    const map = new BoundedMap<string, string>(2, { ttlMs: 10_000, now: () => now });
    for (const step of steps.split(" ")) {
      if (step.endsWith("s")) now += Number.parseInt(step, 10) * 1_000;
      else if (step.startsWith("+")) map.set(step.slice(1), `value of ${step.slice(1)}`);
      else if (step.startsWith("-")) map.delete(step.slice(1));
      else map.get(step.slice(1));
    }
    expect([...map].map(([key]) => key)).toEqual(expected.split(" "));
    for (const key of "abcd") {
      const isListed = expected.includes(key);
      expect(map.get(key)).toBe(isListed ? `value of ${key}` : undefined);
    }
    expect(map.size).toBe(expected.split(" ").length);
  });
});

test("BoundedMap.set returns the value that it drops", () => {
  const map = new BoundedMap<string, number>(1);
  expect(map.set("a", 1)).toBeUndefined();
  expect(map.set("a", 2)).toBeUndefined();
  expect(map.set("b", 3)).toBe(2);
});

test("BoundedMap.delete returns whether there was an entry", () => {
  const map = new BoundedMap<string, number>(1);
  map.set("a", 1);
  expect(map.delete("a")).toBe(true);
  expect(map.delete("a")).toBe(false);
});

test("a bounded map of size 0 keeps nothing", () => {
  const map = new BoundedMap<string, number>(0);
  expect(map.set("a", 1)).toBe(1);
  expect(map.size).toBe(0);
});
