import { expect, test } from "vitest";
import { parseRetryAfterMs, readRetryAfterSeconds } from "./retry-after.ts";

const now = Date.UTC(2026, 0, 5, 12, 0, 0, 500);
const DAY_MS = 86_400_000;

test.each<[string, string | null | undefined, number | undefined]>([
  ["seconds", "7", 7_000],
  ["no wait at all", "0", 0],
  ["seconds between spaces", " 7 ", 7_000],
  ["a date", "Mon, 05 Jan 2026 12:00:10 GMT", 9_500],
  ["a date of the obsolete form", "Monday, 05-Jan-26 12:00:10 GMT", 9_500],
  ["a date in the past", "Mon, 05 Jan 2026 11:00:00 GMT", 0],
  ["a day", "86400", DAY_MS],
  ["more than a day", "86401", DAY_MS],
  ["more than a number can represent", "9".repeat(400), DAY_MS],
  ["a date in more than a day", "Fri, 05 Jan 2029 12:00:00 GMT", DAY_MS],
  ["no header", null, undefined],
  ["an undefined header", undefined, undefined],
  ["an empty header", "", undefined],
  ["a negative number", "-5", undefined],
  ["a fraction", "1.5", undefined],
  ["an exponent", "1e3", undefined],
  ["a word", "soon", undefined],
  ["a date without a zone", "Mon Jan  5 12:00:10 2026", undefined],
  ["an invalid date in words", "Monday, at noon GMT", undefined],
])("parseRetryAfterMs reads %s", (_, value, ms) => {
  expect(parseRetryAfterMs(value, now)).toBe(ms);
});

test("readRetryAfterSeconds rounds up to whole seconds and omits them without a valid header", () => {
  const date = "Mon, 05 Jan 2026 12:00:10 GMT";
  expect(readRetryAfterSeconds(date, now)).toEqual({ retryAfterSeconds: 10 });
  expect(readRetryAfterSeconds("soon", now)).toEqual({});
});
