import fc from "fast-check";
import { expect, test } from "vitest";
import { fullJitter } from "./full-jitter.ts";

const bounds = { baseMs: 500, capMs: 30_000 };
const bytesOf = (value: number) => () => Uint8Array.of(value, value, value);

test("fullJitter returns a wait from 0 to a bound that doubles with each attempt up to the cap", () => {
  fc.assert(
    fc.property(fc.nat(2_000), fc.uint8Array({ minLength: 3, maxLength: 3 }), (attempt, bytes) => {
      const waitMs = fullJitter(attempt, bounds, () => bytes);
      expect(Number.isInteger(waitMs)).toBe(true);
      expect(waitMs).toBeGreaterThanOrEqual(0);
      expect(waitMs).toBeLessThan(Math.min(30_000, 500 * 2 ** attempt));
    }),
  );
});

test.each([
  [0, 250],
  [1, 500],
  [2, 1_000],
  [5, 8_000],
  [6, 15_000],
  [60, 15_000],
])(
  "fullJitter waits before attempt %i for %i ms when the random bytes are in the middle",
  (attempt, waitMs) => {
    expect(fullJitter(attempt, bounds, () => Uint8Array.of(0x80, 0, 0))).toBe(waitMs);
    expect(fullJitter(attempt, bounds, bytesOf(0))).toBe(0);
    expect(fullJitter(attempt, bounds, bytesOf(0xff))).toBe(2 * waitMs - 1);
  },
);
