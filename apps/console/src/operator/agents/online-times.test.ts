import { describe, expect, test } from "vitest";
import { cutTimes, describeTimes, placeSpan, type TimeSpan } from "./online-times.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TO = 100 * DAY;

/** A span that began and ended the given numbers of hours ago. */
const ago = (from: number, until: number): TimeSpan => ({
  from: TO - from * HOUR,
  until: TO - until * HOUR,
});

describe("the sentence about the online times of a day", () => {
  test.each<[expected: string, spans: TimeSpan[], watched: TimeSpan[]]>([
    ["Online for 100 % of the last 24 hours.", [ago(24, 0)], [ago(24, 0)]],
    // The newest sample is a few seconds old.
    ["Online for 100 % of the last 24 hours.", [ago(24, 0.01)], [ago(24, 0.01)]],
    ["Online for 25 % of the last 24 hours.", [ago(24, 20), ago(5, 3)], [ago(24, 0)]],
    ["Online for 0 % of the last 24 hours.", [], [ago(24, 0)]],
    [
      "Online for 50 % of the 4 h that the relay checked in the last 24 hours.",
      [ago(4, 2)],
      [ago(4, 0)],
    ],
    [
      "Online for 33.3 % of the 3 h that the relay checked in the last 24 hours.",
      [ago(20, 19)],
      [ago(20, 18), ago(1, 0)],
    ],
    ["The relay has not checked in the last 24 hours.", [], []],
    ["The relay has not checked in the last 24 hours.", [ago(0, 0)], [ago(0, 0)]],
  ])("the sentence about the online times of a day is: %s", (expected, spans, watched) => {
    expect(describeTimes({ from: TO - DAY, to: TO, spans, watched }, "24 hours")).toBe(expected);
  });
});

test("a later start of the period removes the spans that ended before it, and shortens the others", () => {
  const week = {
    from: TO - 7 * DAY,
    to: TO,
    spans: [ago(100, 90), ago(30, 24), ago(30, 20), ago(2, 1)],
    watched: [ago(168, 0)],
  };
  expect(cutTimes(week, TO - DAY)).toEqual({
    from: TO - DAY,
    to: TO,
    spans: [ago(24, 20), ago(2, 1)],
    watched: [ago(24, 0)],
  });
});

test.each<[title: string, span: TimeSpan, x: number, width: number]>([
  ["all of it", ago(24, 0), 0, 240],
  ["its first hour", ago(24, 23), 0, 10],
  ["its last hour", ago(1, 0), 230, 10],
  ["a moment within", ago(12, 12), 120, 1],
  ["the last moment", ago(0, 0), 239, 1],
])("a strip of online times has a visible place for %s", (_, span, x, width) => {
  expect(placeSpan(span, { from: TO - DAY, to: TO }, 240)).toEqual({ x, width });
});
