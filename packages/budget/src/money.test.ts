import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { asMicro, negate, saturatingSum, scaleHalfUp } from "./money.ts";

const notNegative = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

describe("asMicro", () => {
  test("asMicro returns a safe integer and never -0", () => {
    expect(asMicro(-3)).toBe(-3);
    expect(asMicro(-0)).toBe(0);
  });

  test("negate twice returns the same amount, and negate of 0 is 0", () => {
    expect(negate(asMicro(5))).toBe(-5);
    expect(negate(negate(asMicro(5)))).toBe(5);
    expect(negate(asMicro(0))).toBe(0);
  });

  test.each([0.5, Number.NaN, Infinity, 2 ** 53])("asMicro throws for %s", (value) => {
    expect(() => asMicro(value)).toThrow(RangeError);
  });

  test("saturatingSum adds exactly, up to the greatest safe integer", () => {
    fc.assert(
      fc.property(fc.array(notNegative), (integers) => {
        const exact = integers.reduce((sum, integer) => sum + BigInt(integer), 0n);
        const greatest = BigInt(Number.MAX_SAFE_INTEGER);
        const sum = saturatingSum(integers.map(asMicro));
        expect(BigInt(sum)).toBe(exact < greatest ? exact : greatest);
      }),
    );
  });

  test("saturatingSum throws for a negative amount", () => {
    expect(() => saturatingSum([asMicro(5), asMicro(-1)])).toThrow(RangeError);
  });
});

describe("scaleHalfUp", () => {
  test.each([
    [1, 1, 2, 1],
    [3, 1, 2, 2],
    [1, 1, 3, 0],
    [2, 1, 3, 1],
    [0, 7, 9, 0],
    // Above the safe range of a double: 9e15 × 999,999 / 1,000,000.
    [9_000_000_000_000_000, 999_999, 1_000_000, 8_999_991_000_000_000],
    [9_000_000_000_500_001, 1, 2, 4_500_000_000_250_001],
  ])(
    "scaleHalfUp scales %i by %i / %i to %i, rounded half up",
    (amount, numerator, denominator, expected) => {
      expect(scaleHalfUp(asMicro(amount), numerator, denominator)).toBe(expected);
    },
  );

  test("scaleHalfUp scales any amount to within half a unit of the exact value, ties upwards", () => {
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

  test("scaleHalfUp throws for a negative amount", () => {
    expect(() => scaleHalfUp(asMicro(-1), 1, 2)).toThrow(RangeError);
  });
});
