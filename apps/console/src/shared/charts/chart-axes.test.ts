import { describe, expect, test } from "vitest";
import { formatTick, getValueRange } from "./chart-axes.ts";

const HOUR = 3_600;
const DAY = 24 * HOUR;
const secondsOf = (...parts: [number, number, number, number?]) =>
  new Date(...parts).getTime() / 1_000;

describe("a moment on the axis of times", () => {
  test.each([
    ["a day", secondsOf(2026, 10, 3, 9), { span: DAY, step: HOUR }, "09:00"],
    ["a day, at midnight", secondsOf(2026, 10, 3), { span: DAY, step: HOUR }, "00:00"],
    ["a week", secondsOf(2026, 10, 3), { span: 7 * DAY, step: DAY }, "2026-11-03"],
    ["two days", secondsOf(2026, 10, 3, 12), { span: 2 * DAY, step: 12 * HOUR }, "12:00"],
    [
      "two days, at midnight",
      secondsOf(2026, 10, 3),
      { span: 2 * DAY, step: 12 * HOUR },
      "2026-11-03",
    ],
    // After a change of the clocks, days do not begin at multiples of 24 hours.
    ["a year", secondsOf(2026, 6, 3, 1), { span: 365 * DAY, step: 30 * DAY }, "2026-07-03"],
  ])(
    "a moment on an axis of %s is named so that it cannot be mistaken",
    (_, seconds, axis, text) => {
      expect(formatTick(seconds, axis)).toBe(text);
    },
  );
});

test.each([
  ["no values", null, null, [0, 1]],
  ["small values", 0.1, 0.5, [0, 1]],
  ["large values", 5, 100, [0, 110]],
  ["a debt", -20, 10, [-22, 11]],
  ["only a debt", -20, -10, [-22, 1]],
])("the axis of values shows %s", (_, min, max, ends) => {
  getValueRange(min, max).forEach((end, at) => expect(end).toBeCloseTo(ends[at] ?? 0, 6));
});
