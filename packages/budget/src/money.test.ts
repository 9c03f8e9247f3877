import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { asMicro, negate, saturatingSum, scaleHalfUp } from "./money.ts";

const notNegative = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

describe("Money", () => {
  test("is a safe integer, and nothing is never negative", () => {
    expect(asMicro(-3)).toBe(-3);
    expect(asMicro(-0)).toBe(0);
  });

  test("negated twice is the same, and nothing negated is nothing", () => {
    expect(negate(asMicro(5))).toBe(-5);
    expect(negate(negate(asMicro(5)))).toBe(5);
    expect(negate(asMicro(0))).toBe(0);
  });

  test.each([0.5, Number.NaN, Infinity, 2 ** 53])("is never %s", (value) => {
    expect(() => asMicro(value)).toThrow(RangeError);
  });

  test("adds up exactly, and to the greatest safe integer when the sum passes it", () => {
    fc.assert(
      fc.property(fc.array(notNegative), (integers) => {
        const exact = integers.reduce((sum, integer) => sum + BigInt(integer), 0n);
        const greatest = BigInt(Number.MAX_SAFE_INTEGER);
        const sum = saturatingSum(integers.map(asMicro));
        expect(BigInt(sum)).toBe(exact < greatest ? exact : greatest);
      }),
    );
  });

  test("is never added up from a negative part", () => {
    expect(() => saturatingSum([asMicro(5), asMicro(-1)])).toThrow(RangeError);
  });
});

describe("A product", () => {
  test.each([
    [1, 1, 2, 1],
    [3, 1, 2, 2],
    [1, 1, 3, 0],
    [2, 1, 3, 1],
    [0, 7, 9, 0],
    // Past the safe range of a double: 9e15 × 999,999 / 1,000,000.
    [9_000_000_000_000_000, 999_999, 1_000_000, 8_999_991_000_000_000],
    [9_000_000_000_500_001, 1, 2, 4_500_000_000_250_001],
  ])("of %i by %i / %i is rounded half up to %i", (amount, numerator, denominator, expected) => {
    expect(scaleHalfUp(asMicro(amount), numerator, denominator)).toBe(expected);
  });

  test("is within half a unit of the exact value, ties upwards, however large", () => {
    fc.assert(
      fc.property(
        notNegative,
        fc.integer({ min: 0, max: 1_000_000 }),
        fc.integer({ min: 0, max: 1_000_000 }),
        (amount, a, b) => {
          const [numerator, denominator] = a < b ? [a, b] : [b, a + 1];
          const rounded = BigInt(scaleHalfUp(asMicro(amount), numerator, denominator));
          const doubledError =
            2n * (rounded * BigInt(denominator) - BigInt(amount) * BigInt(numerator));
          expect(doubledError > -BigInt(denominator)).toBe(true);
          expect(doubledError <= BigInt(denominator)).toBe(true);
        },
      ),
    );
  });

  test("of a negative amount is a fault", () => {
    expect(() => scaleHalfUp(asMicro(-1), 1, 2)).toThrow(RangeError);
  });
});
