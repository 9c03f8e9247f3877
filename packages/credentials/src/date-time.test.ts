import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatDateTime, parseDateTime } from "./date-time.ts";

describe("a date is ISO 8601 with a time and a time zone", () => {
  const noon = Date.UTC(2026, 0, 2, 12);

  test.each([
    ["2026-01-02T12:00:00Z", noon],
    ["2026-01-02T12:00:00.5Z", noon + 500],
    ["2026-01-02T12:00:00.827Z", noon + 827],
    ["2026-01-02T12:00:00.827999999Z", noon + 827],
    ["2026-01-02T12:00:00+00:00", noon],
    ["2026-01-02T12:00:00-00:00", noon],
    ["2026-01-02T14:30:00+02:30", noon],
    ["2026-01-01T22:00:00-14:00", noon],
    ["2024-02-29T00:00:00Z", Date.UTC(2024, 1, 29)],
    ["1969-12-31T23:59:59.999Z", -1],
    ["9999-12-31T23:59:59.999Z", Date.UTC(9999, 11, 31, 23, 59, 59, 999)],
  ])("the date %s is parsed", (text, ms) => {
    expect(parseDateTime(text)).toBe(ms);
  });

  test.each([
    "",
    "now",
    "1767330894827",
    "2026-01-02",
    "2026-01-02T12:00:00",
    "2026-01-02T12:00Z",
    "2026-01-02 12:00:00Z",
    "2026-01-02t12:00:00z",
    " 2026-01-02T12:00:00Z",
    "2026-01-02T12:00:00Z\n",
    "2026-01-02T12:00:00.Z",
    "2026-01-02T12:00:00,5Z",
    "2026-01-02T12:00:00.0000000001Z",
    "2026-01-02T12:00:00+0200",
    "2026-01-02T12:00:00+14:01",
    "2026-01-02T12:00:00+15:00",
    "2026-01-02T12:00:00+02:60",
    "2026-1-2T12:00:00Z",
    "26-01-02T12:00:00Z",
    "+002026-01-02T12:00:00Z",
    "-2026-01-02T12:00:00Z",
    "2026-02-29T00:00:00Z",
    "2026-02-30T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-00-10T00:00:00Z",
    "2026-13-10T00:00:00Z",
    "2026-01-00T00:00:00Z",
    "2026-01-32T00:00:00Z",
    "2026-01-02T24:00:00Z",
    "2026-01-02T25:00:00Z",
    "2026-01-02T12:60:00Z",
    "2026-01-02T12:00:60Z",
    "２０２６-01-02T12:00:00Z",
  ])("the date %j is refused", (text) => {
    expect(parseDateTime(text)).toBeNull();
  });

  test("a year after 9999 or before 0 is not formatted", () => {
    expect(() => formatDateTime(Date.UTC(10_000, 0))).toThrow(RangeError);
    expect(() => formatDateTime(Date.UTC(-1, 0))).toThrow(RangeError);
    expect(() => formatDateTime(Number.NaN)).toThrow(RangeError);
  });

  test("every formatted date is parsed to the same time", () => {
    const ms = fc.integer({ min: Date.parse("0000-01-01T00:00:00Z"), max: Date.UTC(9999, 0) });
    fc.assert(
      fc.property(ms, (time) => {
        expect(parseDateTime(formatDateTime(time))).toBe(time);
      }),
    );
  });
});
