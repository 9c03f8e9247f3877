import { expect, test } from "vitest";
import {
  hasTooManyRejections,
  isArbiterSuspended,
  isSubmitterSuspended,
} from "./inspection-limits.ts";

const DAY = 86_400_000;
const NOW = 1_000 * DAY;

test.each([
  [19, 0, false],
  [20, 0, true],
  [20, 200, true],
  [20, 201, false],
  [99, 1_000, false],
  [100, 1_000, true],
])("%i rejected or disputed of %i inspections are too many: %s", (open, begun, isTooMany) => {
  const counts = { rejectedOrDisputed: open, begunIn30Days: begun };
  expect(hasTooManyRejections(counts)).toBe(isTooMany);
});

/** Returns one case a day, the newest `age` ms old; `x` marks those that count against the agent. */
const datesOf = (marks: string, age: number) =>
  marks.split("").map((mark, index) => ({ at: NOW - age - index * DAY, isMarked: mark === "x" }));

test.each([
  ["", 0, false],
  ["xxxx", 0, false],
  ["xxxxx", 0, true],
  ["xxxxx", 7 * DAY - 1, true],
  ["xxxxx", 7 * DAY, false],
  ["x.x.x.x.x.", 0, true],
  ["x.x.x.x..x", 0, true],
  ["x.x.x.x...x", 0, false],
  // The seven days begin with the newest case that was lost, not with one that was won.
  ["..xxxxx", 5 * DAY - 1, true],
  ["..xxxxx", 5 * DAY, false],
])("a submitter that lost %j, the newest %i ms ago, is suspended: %s", (marks, age, suspended) => {
  const cases = datesOf(marks, age).map(({ at, isMarked }) => ({ closedAt: at, isLost: isMarked }));
  expect(isSubmitterSuspended(cases, NOW)).toBe(suspended);
});

test.each([
  ["", 0, false],
  ["xx", 0, false],
  ["xxx", 0, true],
  ["xxx", 7 * DAY - 1, true],
  ["xxx", 7 * DAY, false],
  [".xxx", 0, false],
  ["xx.x", 0, false],
  ["xxx.", 0, true],
])(
  "an arbiter that let %j pass, the newest %i ms ago, is suspended: %s",
  (marks, age, suspended) => {
    const cases = datesOf(marks, age).map(({ at, isMarked }) => ({
      endedAt: at,
      isPassed: isMarked,
    }));
    expect(isArbiterSuspended(cases, NOW)).toBe(suspended);
  },
);
