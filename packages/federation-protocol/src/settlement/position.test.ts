import { asMicro } from "@agent/budget";
import { describe, expect, it } from "vitest";
import { comparePositions, parsePosition, toPositionMessage } from "./position.ts";

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
  ] as const)("%s", (_, ours, theirs, statedAfter, expected) => {
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
