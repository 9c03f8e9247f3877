import { expect, test } from "vitest";
import { asMicro } from "../money.ts";
import {
  getLeastRival,
  hasTooManyRejections,
  isArbiterSuspended,
  isSubmitterSuspended,
} from "./inspection-limits.ts";

const DAY = 86_400_000;
const NOW = 1_000 * DAY;

const volumeOf = ([count, due]: readonly [number, number]) => ({ count, due: asMicro(due) });

test.each([
  [[19, 19], [0, 0], false],
  [[20, 20], [0, 0], true],
  [[20, 20], [200, 201], true],
  [[20, 20], [201, 200], true],
  [[20, 20], [201, 201], false],
  [[99, 99], [1_000, 1_000], false],
  [[100, 1], [1_000, 1_000], true],
  // Many that were about next to nothing allow no more, and one about much neither.
  [[20, 2_000_000], [100_000, 100_000], true],
  [[20, 20], [1, 1_000_000], true],
] as const)("%j rejected or disputed, and %j paid, are too many: %s", (open, paid, isTooMany) => {
  const volumes = { rejectedOrDisputed: volumeOf(open), paidIn30Days: volumeOf(paid) };
  expect(hasTooManyRejections(volumes)).toBe(isTooMany);
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
  const cases = datesOf(marks, age).map(({ at, isMarked }) => ({
    closedAt: at,
    isLost: isMarked,
    arbiterId: "a",
  }));
  expect(isSubmitterSuspended(cases, NOW)).toBe(suspended);
});

test.each([
  ["cases won before another arbiter", "......xxxxx", "bbbbbbaaaaa", true],
  ["cases won before the same arbiter", "......xxxxx", "aaaaaaaaaaa", false],
  ["a case lost and others won before another arbiter", ".....x.xxxxx", "bbbbbbbaaaaa", true],
  ["lost cases before many arbiters, and none won", "xxxxx", "abcde", true],
  ["lost cases before many arbiters, and enough won", "......xxxxx", "ffffffabcde", false],
  ["too many won before the arbiter since", "......xxxxx.", "aaaaaabbbbaa", false],
  ["lost ones beyond the last ten before the arbiter", "xxxx......xx", "aaaaaaaaaaaa", false],
])(
  "a submitter is judged separately for each arbiter: %s",
  (_title, marks, arbiters, suspended) => {
    const cases = datesOf(marks, 0).map(({ isMarked }, index) => ({
      closedAt: NOW - index,
      isLost: isMarked,
      arbiterId: arbiters[index] ?? "",
    }));
    expect(isSubmitterSuspended(cases, NOW)).toBe(suspended);
  },
);

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
      leastLoss: asMicro(1),
    }));
    expect(isArbiterSuspended(cases, { now: NOW, leastCost: asMicro(1) })).toBe(suspended);
  },
);

test.each([
  ["that cost enough together", [2, 3, 5], 0, true],
  ["that cost too little", [2, 3, 4], 0, false],
  ["of which one cost enough", [0, 0, 10], 0, true],
  ["that were too few, whatever they cost", [10, 10], 0, false],
  ["that cost nothing, in any number", Array.from({ length: 100 }, () => 0), 0, false],
  ["that cost enough in the seven days before the newest", [5, 0, 5], 3 * DAY, true],
  ["that cost enough only with older ones", [5, 0, 5], 3.5 * DAY, false],
])(
  "an arbiter is judged by the cases that it let pass: those %s",
  (_title, losses, apart, suspended) => {
    const cases = losses.map((loss, index) => ({
      endedAt: NOW - index * apart,
      isPassed: true,
      leastLoss: asMicro(loss),
    }));
    expect(isArbiterSuspended(cases, { now: NOW, leastCost: asMicro(10) })).toBe(suspended);
    // Where the operator sets no threshold, a row of passed cases suspends.
    const isRow = losses.length > 2;
    expect(isArbiterSuspended(cases, { now: NOW, leastCost: asMicro(0) })).toBe(isRow);
  },
);

test.each([
  [1, 1],
  [9, 1],
  [10, 10],
  [2_000_000, 1_000_000],
  [9_999_999, 1_000_000],
  [9_000_000_000_000_000, 1_000_000_000_000_000],
])("a dispute about %i competes for a place with those about at least %i", (due, least) => {
  expect(getLeastRival(asMicro(due))).toBe(least);
});
