import { describe, expect, test } from "vitest";
import { addDurations, getPercentile, mergeHistograms } from "./latency-histogram.ts";

describe("a histogram of durations", () => {
  test.each([0.5, 1, 7, 90, 1_234, 60_000, 86_400_000])(
    "a histogram returns the duration %d within five percent",
    (duration) => {
      const found = getPercentile(addDurations({}, [duration]), 0.5) ?? NaN;
      expect(Math.abs(found - duration)).toBeLessThanOrEqual(Math.max(1, duration * 0.05));
    },
  );

  test("a histogram has no percentile while it is empty", () => {
    expect(getPercentile({}, 0.5)).toBeNull();
  });

  test("a histogram distinguishes the median from slow durations", () => {
    const durations = Array.from({ length: 100 }, (_, at) => (at < 94 ? 100 : 10_000));
    const histogram = addDurations({}, durations);
    expect(getPercentile(histogram, 0.5)).toBeLessThan(110);
    expect(getPercentile(histogram, 0.95)).toBeGreaterThan(9_000);
  });

  test("a histogram of a longer step is the sum of its minutes", () => {
    const minutes = [[1, 200], [3_000], []].map((each) => addDurations({}, each));
    expect(mergeHistograms(minutes)).toEqual(addDurations({}, [1, 200, 3_000]));
  });

  test("a histogram counts a duration as 0 if the clock went back meanwhile", () => {
    expect(getPercentile(addDurations({}, [-5]), 1)).toBe(0);
  });
});
