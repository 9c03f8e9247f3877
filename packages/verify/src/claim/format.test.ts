import { expect, test } from "vitest";
import { formatTime, toPrintable, formatDollars } from "./format.ts";

test.each<[unknown, string]>([
  ["019b7d21-53eb-7c81-b2f1-75174603c805", "019b7d21-53eb-7c81-b2f1-75174603c805"],
  ["did:key:z6Mk#z6Mk", "did:key:z6Mk#z6Mk"],
  ["1 for agent 2", '"1 for agent 2"'],
  ['"', '"\\""'],
  ["a\nb\u001b[2J", '"a\\nb\\u001b[2J"'],
  ["\u202e\ud800é", '"\\u202e\\ud800\\u00e9"'],
  ["", '""'],
  ["x".repeat(101), `${"x".repeat(100)}...`],
  [7, "?"],
])("D5: %j is written as %s in a sentence", (text, written) => {
  expect(toPrintable(text)).toBe(written);
});

test.each<[unknown, string]>([
  [1_767_330_894_827, "2026-01-02T05:14:54.827Z"],
  [8.64e15 + 1, "8640000000000001 ms"],
  [Number.NaN, "NaN ms"],
  ["a\nb", "?"],
])("D5: the time %j is written as %s", (ms, written) => {
  expect(formatTime(ms)).toBe(written);
});

test.each<[number[], string]>([
  [[2], "2.00 USD"],
  [[0.1, 0.2], "0.30 USD"],
  [[1e-6], "0.000001 USD"],
  [[100], "100.00 USD"],
  [[1.5], "1.50 USD"],
  [[], "0.00 USD"],
])("D5: the amounts %j are written as %s", (amounts, written) => {
  expect(formatDollars(...amounts)).toBe(written);
});
