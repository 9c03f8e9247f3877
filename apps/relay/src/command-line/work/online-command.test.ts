import { expect, test } from "vitest";
import { describeShare } from "./online-command.ts";

const MINUTE = 60_000;
const to = 10 * MINUTE;
/** A span that began and ended the given numbers of minutes ago. */
const ago = (from: number, until: number) => ({
  from: to - from * MINUTE,
  until: to - until * MINUTE,
});

test.each([
  ["the relay has not checked yet in this time; it checks once a minute", [], []],
  ["online when the relay first checked", [ago(0, 0)], [ago(0, 0)]],
  [
    "online 100 %: 2 min of 2 min that the relay checked, of the last 10 min",
    [ago(2, 0)],
    [ago(2, 0)],
  ],
  ["online 0 %: 0 ms of 2 min that the relay checked, of the last 10 min", [], [ago(2, 0)]],
])("the share of time online is described as: %s", (text, spans, watched) => {
  expect(describeShare({ from: 0, to, spans, watched })).toBe(text);
});
