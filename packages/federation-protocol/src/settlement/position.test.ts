import { asMicro } from "@agent/budget";
import { describe, expect, it } from "vitest";
import {
  comparePositions,
  parsePosition,
  type PositionDifference,
  toPositionMessage,
  updateDifference,
} from "./position.ts";

const own = (amount: number, underWay = false, movedAt: number | null = 100) => ({
  amount: asMicro(amount),
  underWay,
  movedAt,
});
const peer = (amount: number, underWay = false) => ({ amount: asMicro(amount), underWay });

describe("A8: the positions of two relays", () => {
  it.each([
    ["mirror each other", own(950_000), peer(-950_000), 200, 0],
    ["are both 0 before any movement", own(0, false, null), peer(0), 0, 0],
    ["differ by what one side lacks", own(0), peer(950_000), 200, 950_000],
    ["differ where both say that they owe", own(1), peer(1), 200, 2],
    ["are not compared while something is pending here", own(0, true), peer(5), 200, null],
    ["are not compared while something is pending there", own(0), peer(5, true), 200, null],
    ["are not compared when the account moved since the peer read", own(0), peer(5), 100, null],
  ] as const)("the positions of two relays %s", (_, ours, theirs, statedAfter, expected) => {
    expect(comparePositions(ours, theirs, statedAfter)).toBe(expected);
  });

  it.each([0, 950_000, -950_000, 1, -1, 9_000_000_000_000_000])(
    "a heartbeat keeps the position %i",
    (amount) => {
      const position = peer(amount, true);
      expect(parsePosition(toPositionMessage(position))).toEqual(position);
    },
  );
});

describe("A8: a difference between the books of two relays", () => {
  const seen = (amount: number, isConfirmed = false, seenAt = 100): PositionDifference => ({
    amount: asMicro(amount),
    seenAt,
    isConfirmed,
  });
  it.each([
    ["is none where the books agree", undefined, 0, 150, undefined],
    ["is kept while the books cannot be compared", seen(5), null, 150, seen(5)],
    ["is no alarm when it is seen first", undefined, 5, 150, seen(5, false, 200)],
    ["is no alarm by a position stated before it was seen", seen(5), 5, 100, seen(5)],
    ["is an alarm by a position stated after it was seen", seen(5), 5, 101, seen(5, true)],
    ["that became another one is seen first again", seen(5), 6, 150, seen(6, false, 200)],
    ["ends before it was an alarm", seen(5), 0, 101, undefined],
    ["stays an alarm when it becomes another one", seen(5, true), 6, 50, seen(6, true)],
    ["stays an alarm while the books cannot be compared", seen(5, true), null, 150, seen(5, true)],
    ["ends as an alarm", seen(5, true), 0, 50, undefined],
  ] as const)(
    "a difference between the books of two relays %s",
    (_, known, compared, statedAfter, expected) => {
      const amount = compared === null ? null : asMicro(compared);
      expect(updateDifference(known, amount, { statedAfter, now: 200 })).toEqual(expected);
    },
  );
});
