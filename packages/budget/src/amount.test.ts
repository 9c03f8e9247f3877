import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_AMOUNT, fromMicro, parseAmount, toDollars, toMicro } from "./amount.ts";
import { asMicro, MICRO } from "./money.ts";

describe("parseAmount", () => {
  test.each([
    [1, 1_000_000],
    [0.1, 100_000],
    [0.000001, 1],
    [1e-6, 1],
    [1.000001, 1_000_001],
    // As doubles, 1.005 × 1e6 and 4.35 × 1e6 are not whole numbers.
    [1.005, 1_005_000],
    [4.35, 4_350_000],
    [262_144.123457, 262_144_123_457],
    [999_999_999.999999, 999_999_999_999_999],
    [1e9, 1_000_000_000_000_000],
  ])("parseAmount parses %s as %s micro-units", (value, amount) => {
    expect(parseAmount(value)).toEqual({ ok: true, amount });
  });

  test.each([
    ["5", "money.not_a_number"],
    [null, "money.not_a_number"],
    [undefined, "money.not_a_number"],
    [Number.NaN, "money.not_a_number"],
    [Infinity, "money.not_a_number"],
    [-Infinity, "money.not_a_number"],
    [5n, "money.not_a_number"],
    [true, "money.not_a_number"],
    [[5], "money.not_a_number"],
    [{ valueOf: () => 5 }, "money.not_a_number"],
    [0, "money.not_positive"],
    [-0, "money.not_positive"],
    [-1, "money.not_positive"],
    [-1e-9, "money.not_positive"],
    [-1e308, "money.not_positive"],
    [1_000_000_000.000001, "money.too_large"],
    [1e10, "money.too_large"],
    [1e21, "money.too_large"],
    [1e308, "money.too_large"],
    [5e-324, "money.too_many_decimals"],
    [1e-7, "money.too_many_decimals"],
    [9.99e-7, "money.too_many_decimals"],
    [0.1 + 0.2, "money.too_many_decimals"],
    [1.0000001, "money.too_many_decimals"],
  ])("parseAmount refuses %s with %s", (value, code) => {
    expect(parseAmount(value)).toEqual({ ok: false, code });
  });

  test("parseAmount accepts 0 with allowZero and still refuses negative amounts", () => {
    expect(parseAmount(0, { allowZero: true })).toEqual({ ok: true, amount: 0 });
    expect(parseAmount(-0, { allowZero: true })).toEqual({ ok: true, amount: 0 });
    expect(parseAmount(-1, { allowZero: true })).toEqual({ ok: false, code: "money.not_positive" });
  });

  test("parseAmount accepts exactly the decimals from 0 to 1e9 with at most 6 places", () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 1e9, noNaN: true }), (value) => {
        const decimals = String(value).split(".")[1] ?? "";
        expect(parseAmount(value).ok).toBe(decimals.length <= 6 && !decimals.includes("e"));
      }),
    );
  });
});

describe("toMicro", () => {
  test.each([
    ["0", 0],
    ["-0", 0],
    ["217.83435", 217_834_350],
    ["9013.50", 9_013_500_000],
    ["-12.5", -12_500_000],
    [-0.3, -300_000],
    ["9007199254.740991", Number.MAX_SAFE_INTEGER],
  ])("toMicro converts %s to %s micro-units", (value, amount) => {
    expect(toMicro(value)).toBe(amount);
  });

  test.each([
    "",
    " 1",
    "1 ",
    "1.",
    ".5",
    "+1",
    "01",
    "1e3",
    "0x10",
    "1,5",
    "NaN",
    "1.0000000",
    "9007199254.740992",
    "9".repeat(400),
    Number.NaN,
    Infinity,
    1e-7,
    1e16,
    1e21,
  ])("toMicro throws a RangeError for %j", (value) => {
    expect(() => toMicro(value)).toThrow(RangeError);
  });

  test.each<[string, unknown]>([
    ["an array of a number", [1]],
    ["an array of an array", [[1]]],
    ["an array of a text", ["1"]],
    ["an object that is a number", Object(1)],
    ["true", true],
    ["null", null],
    ["nothing", undefined],
  ])("G6: toMicro refuses %s, although its text may be a decimal", (_, value) => {
    expect(() => toMicro(value as number)).toThrow(RangeError);
  });

  test.each([
    [1, 1_000_000],
    ["1", 1_000_000],
    ["-0.5", -500_000],
  ])("G6: toMicro converts %j, a number or a decimal text", (value, micro) => {
    expect(toMicro(value)).toBe(micro);
  });

  test("toMicro inverts fromMicro through JSON for every amount of both signs", () => {
    const greatest: number = MAX_AMOUNT;
    fc.assert(
      fc.property(fc.integer({ min: -greatest, max: greatest }), (integer) => {
        const written = JSON.stringify(fromMicro(asMicro(integer)));
        expect(toMicro(JSON.parse(written) as number)).toBe(integer === 0 ? 0 : integer);
      }),
    );
  });

  test("toMicro inverts fromMicro up to 2^33 units", () => {
    fc.assert(
      fc.property(fc.integer({ min: 2 ** 32 * MICRO, max: 2 ** 33 * MICRO }), (integer) => {
        expect(toMicro(fromMicro(asMicro(integer)))).toBe(integer);
      }),
    );
  });

  test("a thousand deposits of 0.1 add up to exactly 100", () => {
    let balance = asMicro(0);
    for (let deposit = 0; deposit < 1000; deposit += 1) {
      balance = asMicro(balance + toMicro(0.1));
    }
    expect(fromMicro(balance)).toBe(100);
  });
});

describe("toDollars", () => {
  test("toDollars converts micro-units to currency units without a negative zero", () => {
    expect([1, -2_500_000, -0].map(toDollars)).toEqual([0.000001, -2.5, 0]);
  });

  test("toDollars throws a RangeError unless it gets a safe integer", () => {
    for (const value of [0.5, Number.NaN, Number.MAX_SAFE_INTEGER + 1]) {
      expect(() => toDollars(value)).toThrow(RangeError);
    }
  });
});
