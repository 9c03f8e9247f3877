import { expect, test } from "vitest";
import { measureSkew } from "./measure-skew.ts";

/** The database stated the time 50,000 between 1,000 and 1,200 ms after the start of the process. */
const reading = { time: 50_000, askedAt: 1_000, answeredAt: 1_200 };

test.each([
  ["the clock shows the same time at the answer", 50_000, 1_200, 0],
  ["the answer took all of the wait", 50_200, 1_200, 0],
  ["the clock is ahead by more than the wait", 50_201, 1_200, 1],
  ["the clock is behind", 49_990, 1_200, 10],
  ["both clocks went on", 53_100, 4_200, 0],
  ["the clock was set ahead since", 3_653_200, 4_200, 3_600_000],
  ["the clock was set back since", -3_547_000, 4_200, 3_600_000],
])("the skew of a clock when %s", (_, now, elapsed, skew) => {
  expect(measureSkew(reading, { now, elapsed })).toBe(skew);
});
