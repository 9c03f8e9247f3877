import { describe, expect, test } from "vitest";
import { createSeededRandom } from "./random.ts";

const draw = (seed: number) => {
  const { next } = createSeededRandom(seed);
  return Array.from({ length: 1_000 }, next);
};

describe("seeded randomness", () => {
  test("seeded randomness repeats itself for one seed and differs for any other", () => {
    expect(draw(1)).toEqual(draw(1));
    const starts = [0, 1, 2, -1, 0.5, 2 ** 31, 2 ** 32, 2 ** 40].map((seed) => draw(seed)[0]);
    // Fractions are truncated, so 0.5 is the same seed as 0.
    expect(new Set(starts).size).toBe(starts.length - 1);
  });

  test("seeded randomness is spread evenly from 0 to 1", () => {
    const tenths = Array.from({ length: 10 }, () => 0);
    for (const value of draw(7)) {
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThan(1);
      tenths[Math.floor(value * 10)]! += 1;
    }
    for (const count of tenths) expect(Math.abs(count - 100)).toBeLessThan(40);
  });

  test("seeded randomness gives whole numbers below a limit, bytes and one of several", () => {
    const random = createSeededRandom(3);
    const numbers = Array.from({ length: 200 }, () => random.below(6));
    expect(new Set(numbers)).toEqual(new Set([0, 1, 2, 3, 4, 5]));
    expect(random.randomBytes(32)).toHaveLength(32);
    expect(new Set(random.randomBytes(10_000)).size).toBe(256);
    const picked = Array.from({ length: 100 }, () => random.pick(["a", "b"]));
    expect(new Set(picked)).toEqual(new Set(["a", "b"]));
  });
});
