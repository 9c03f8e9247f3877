import { describe, expect, test } from "vitest";
import {
  formatCount,
  formatDuration,
  formatMoney,
  formatShare,
  formatSparkline,
  parseDuration,
  parseMoney,
  parseTime,
} from "./format-values.ts";

test.each([
  [0, "0.00 USD"],
  [2, "2.00 USD"],
  [0.1, "0.10 USD"],
  [1.234567, "1.234567 USD"],
  [-12.5, "-12.50 USD"],
])("the amount %d is formatted as %s", (amount, text) => {
  expect(formatMoney(amount)).toBe(text);
});

test.each([
  [null, "-"],
  [-259_200_000, "0 ms"],
  [12, "12 ms"],
  [900, "900 ms"],
  [1_500, "1.5 s"],
  [61_000, "1 min 1 s"],
  [7_200_000, "2 h"],
  [90_000_000, "1 d 1 h"],
])("the duration %j is formatted as %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

describe("the value of an option", () => {
  test.each([
    ["90s", 90_000],
    ["15m", 900_000],
    ["2h", 7_200_000],
    ["1d", 86_400_000],
    ["250ms", 250],
    ["250", undefined],
    ["1w", undefined],
    ["-1h", undefined],
    ["", undefined],
  ])("the duration %j is %j ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each([
    ["1h", 6_400_000],
    ["2026-01-01", Date.UTC(2026, 0, 1)],
    ["2026-01-01T10:00:00Z", Date.UTC(2026, 0, 1, 10)],
    ["yesterday", undefined],
  ])("the time %j is %j", (text, at) => {
    expect(parseTime(text, 10_000_000)).toBe(at);
  });

  test.each([
    ["10", 10],
    ["0.000001", 0.000001],
    ["1.0000001", undefined],
    ["1e3", undefined],
    ["-1", undefined],
    [undefined, undefined],
  ])("the amount %j is %j", (text, amount) => {
    expect(parseMoney(text)).toBe(amount);
  });
});

test.each([
  [0, "0 %"],
  [0.07, "7 %"],
  [0.29, "29 %"],
  [0.333333, "33.3333 %"],
  [1, "100 %"],
])("the share %j is %j", (share, text) => {
  expect(formatShare(share)).toBe(text);
});

test.each([
  [0, "0 disputes"],
  [1, "1 dispute"],
  [2, "2 disputes"],
])("a count of %i is formatted as %j", (count, text) => {
  expect(formatCount(count, "dispute")).toBe(text);
});

test("a line of bars has a blank where a number is missing", () => {
  expect(formatSparkline([0, null, 5, 10])).toBe("▁ ▅█");
  expect(formatSparkline([0, 0])).toBe("▁▁");
});
