import { describe, expect, test } from "vitest";
import { toMicro } from "./amount.ts";
import { selectNewerDispute, computeReversedAmount, type CardDispute } from "./card-reversal.ts";

type Disputed = readonly [amount: number, isTaken: boolean];

test.each<[string, number, number, Disputed[], number]>([
  ["nothing happened", 10, 0, [], 0],
  ["a part was refunded", 10, 4, [], 4],
  ["all was refunded", 10, 10, [], 10],
  ["more was refunded than was paid", 10, 12, [], 10],
  ["it is disputed", 10, 0, [[10, true]], 10],
  ["the dispute was won", 10, 0, [[10, false]], 0],
  ["it was disputed and then refunded", 10, 10, [[10, true]], 10],
  ["a part was refunded and the rest disputed", 10, 4, [[6, true]], 10],
  ["a part was refunded and the whole disputed", 10, 4, [[10, true]], 10],
  ["a part was refunded and the dispute of the rest won", 10, 4, [[6, false]], 4],
  [
    "one of two disputes was won",
    10,
    0,
    [
      [3, true],
      [4, false],
    ],
    3,
  ],
])("A13: when %s, of %d paid with %d refunded and disputes %j, %d is reversed", (...row) => {
  const [, paid, refunded, disputes, reversed] = row;
  const amount = computeReversedAmount({
    paid: toMicro(paid),
    refunded: toMicro(refunded),
    disputes: disputes.map(([of, isTaken]) => ({ amount: toMicro(of), isTaken })),
  });
  expect(amount).toBe(toMicro(reversed));
});

describe("A13: selectNewerDispute", () => {
  const dispute = (isFinal: boolean, isTaken: boolean, reportedAt: number): CardDispute => ({
    amount: toMicro(1),
    isFinal,
    isTaken,
    reportedAt,
  });

  test.each([
    [
      "a dispute is closed by a later event",
      dispute(false, true, 1),
      dispute(true, false, 2),
      "reported",
    ],
    [
      "a dispute is closed by an event of the same second",
      dispute(false, true, 1),
      dispute(true, true, 1),
      "reported",
    ],
    [
      "a delayed event does not reopen a dispute",
      dispute(true, false, 1),
      dispute(false, true, 2),
      "stored",
    ],
    [
      "a repeated event leaves a dispute the same",
      dispute(true, false, 2),
      dispute(true, false, 2),
      "reported",
    ],
    [
      "an older end does not change a dispute",
      dispute(true, false, 2),
      dispute(true, true, 1),
      "stored",
    ],
    ["a later end changes a dispute", dispute(true, true, 1), dispute(true, false, 2), "reported"],
  ] as const)("A13: %s", (_, stored, incoming, expected) => {
    expect(selectNewerDispute(stored, incoming)).toBe(expected === "reported" ? incoming : stored);
  });
});
