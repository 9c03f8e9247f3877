import { describe, expect, test } from "vitest";
import { toMicro } from "./amount.ts";
import { selectNewerDispute, computeReversedAmount, type CardDispute } from "./card-reversal.ts";

type Disputed = readonly [amount: number, isTaken: boolean];

test.each<[string, number, number, Disputed[], number]>([
  ["nothing happened", 10, 0, [], 0],
  ["a part was refunded", 10, 4, [], 4],
  ["all was refunded", 10, 10, [], 10],
  ["more is said to be refunded than was paid", 10, 12, [], 10],
  ["it is disputed", 10, 0, [[10, true]], 10],
  ["the dispute was won", 10, 0, [[10, false]], 0],
  ["it was disputed and then refunded", 10, 10, [[10, true]], 10],
  ["a part was refunded and the rest disputed", 10, 4, [[6, true]], 10],
  ["a part was refunded and all of it disputed", 10, 4, [[10, true]], 10],
  ["a part was refunded and the dispute of the rest won", 10, 4, [[6, false]], 4],
  [
    "of two disputes one was won",
    10,
    0,
    [
      [3, true],
      [4, false],
    ],
    3,
  ],
])("A13: when %s, of %d paid with %d refunded and disputes %j %d is taken back", (...row) => {
  const [, paid, refunded, disputes, reversed] = row;
  const amount = computeReversedAmount({
    paid: toMicro(paid),
    refunded: toMicro(refunded),
    disputes: disputes.map(([of, isTaken]) => ({ amount: toMicro(of), isTaken })),
  });
  expect(amount).toBe(toMicro(reversed));
});

describe("A13: the state of a dispute", () => {
  const said = (isFinal: boolean, isTaken: boolean, saidAt: number): CardDispute => ({
    amount: toMicro(1),
    isFinal,
    isTaken,
    reportedAt: saidAt,
  });

  test.each([
    ["is closed by a later event", said(false, true, 1), said(true, false, 2), "said"],
    ["is closed by an event of the same second", said(false, true, 1), said(true, true, 1), "said"],
    [
      "is not opened again by a delayed event",
      said(true, false, 1),
      said(false, true, 2),
      "stored",
    ],
    ["is the same after a repeated event", said(true, false, 2), said(true, false, 2), "said"],
    ["is not changed by an older end", said(true, false, 2), said(true, true, 1), "stored"],
    ["is changed by a later end", said(true, true, 1), said(true, false, 2), "said"],
  ] as const)("A13: %s", (_, stored, incoming, expected) => {
    expect(selectNewerDispute(stored, incoming)).toBe(expected === "said" ? incoming : stored);
  });
});
