import { describe, expect, test } from "vitest";
import { asMicro } from "../money.ts";
import { asMillionths, computePart, fromMillionths, toMillionths } from "./millionths.ts";

describe("a share", () => {
  test.each([
    [0, 0],
    ["0.000001", 1],
    [0.25, 250_000],
    ["0.999999", 999_999],
    [1, 1_000_000],
  ])(
    "the share %j is read as %d millionths and written as the same number",
    (value, millionths) => {
      expect(toMillionths(value)).toBe(millionths);
      expect(fromMillionths(asMillionths(millionths))).toBe(Number(value));
    },
  );

  test.each([-0.000001, 1.000001, 0.0000001, "a half", Number.NaN])(
    "the value %j is refused as a share",
    (value) => {
      expect(() => toMillionths(value)).toThrow(RangeError);
    },
  );

  test.each([-1, 0.5, 1_000_001, Number.NaN])("a share is never %d millionths", (integer) => {
    expect(() => asMillionths(integer)).toThrow(RangeError);
  });

  test.each([
    [3, "0.5", 2],
    [1, "0.499999", 0],
    [2_000_000, "0.75", 1_500_000],
    [7, 0, 0],
    [7, 1, 7],
  ])("a share of %d micro-units, %s of it, is %d micro-units", (amount, share, part) => {
    expect(computePart(asMicro(amount), toMillionths(share))).toBe(part);
  });
});
