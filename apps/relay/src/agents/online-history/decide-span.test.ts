import { describe, expect, test } from "vitest";
import {
  decideSpan,
  getSpanEnd,
  MAX_GAP_MS,
  MAX_MISS_MS,
  type NewestSpan,
  type SpanChange,
} from "./decide-span.ts";

const NOW = 1_000_000;
const ONE_BEFORE = NOW - 60_000;
const LAST_BEFORE_GAP = NOW - MAX_GAP_MS - 1;
const open: NewestSpan = { until: null };

type Row = readonly [
  title: string,
  newest: NewestSpan | undefined,
  isOnline: boolean,
  before: number | undefined,
  changes: readonly SpanChange[],
];

const rows: readonly Row[] = [
  ["an agent that is not online and never was", undefined, false, ONE_BEFORE, []],
  ["an agent that is online for the first time", undefined, true, ONE_BEFORE, ["begin"]],
  ["the first sample of a relay", undefined, true, undefined, ["begin"]],
  ["an agent that stays", open, true, ONE_BEFORE, []],
  ["an agent that stays, where one sample failed", open, true, NOW - 2 * 60_000, []],
  ["an agent that stays, after the longest allowed time", open, true, NOW - MAX_GAP_MS, []],
  ["an agent that stays, at a second sample of one moment", open, true, NOW, []],
  ["an agent that is no longer online", open, false, ONE_BEFORE, ["end"]],
  ["an agent that is back after a gap", open, true, LAST_BEFORE_GAP, ["end", "begin"]],
  ["an agent that is not back after a gap", open, false, LAST_BEFORE_GAP, ["end"]],
  ["an agent that is still gone", { until: ONE_BEFORE }, false, ONE_BEFORE, []],
  ["an agent that one sample missed", { until: ONE_BEFORE }, true, ONE_BEFORE, ["resume"]],
  ["an agent whose span ended at this moment", { until: NOW }, true, NOW, ["resume"]],
  [
    "an agent that is back after the longest time that counts as a miss",
    { until: NOW - MAX_MISS_MS },
    true,
    ONE_BEFORE,
    ["resume"],
  ],
  ["an agent that two samples missed", { until: NOW - 2 * 60_000 }, true, ONE_BEFORE, ["begin"]],
  [
    "an agent that is back a millisecond after that time",
    { until: NOW - MAX_MISS_MS - 1 },
    true,
    ONE_BEFORE,
    ["begin"],
  ],
];

describe("samples", () => {
  test.each(rows)(
    "a sample makes the right changes for %s",
    (_, newest, isOnline, before, changes) => {
      expect(decideSpan(newest, isOnline, { now: NOW, before })).toEqual(changes);
    },
  );

  test.each([
    ["to its own time, if it is the first one", undefined, NOW],
    ["to its own time, if another one was taken shortly before", ONE_BEFORE, NOW],
    [
      "to the time of the sample before a gap, because the relay has not looked since",
      LAST_BEFORE_GAP,
      LAST_BEFORE_GAP,
    ],
  ])("a sample sets the end of a span %s", (_, before, end) => {
    expect(getSpanEnd({ now: NOW, before })).toBe(end);
  });
});
