import { expect, it } from "vitest";
import { isFresh, isFreshAnswer } from "./freshness.ts";

const LIFETIME = 300_000;

it.each([
  [-LIFETIME - 1, false],
  [-LIFETIME, true],
  [LIFETIME, true],
  [LIFETIME + 1, false],
])("a time %i ms from this relay's clock is accepted as fresh: %s", (offset, fresh) => {
  expect(isFresh(1_000_000 + offset, 1_000_000, LIFETIME)).toBe(fresh);
});

it("A8: a peer that accepts a request as fresh answers with a fresh time, however long each message takes", () => {
  for (const offset of [-LIFETIME, -1, 0, 1, LIFETIME]) {
    for (const there of [0, 9_000, 2 * LIFETIME]) {
      for (const back of [0, 9_000, 2 * LIFETIME]) {
        const takenAt = there + offset;
        if (!isFresh(0, takenAt, LIFETIME)) continue;
        const context = { askedAt: 0, now: there + back };
        expect(isFreshAnswer(takenAt, context, LIFETIME)).toBe(true);
      }
    }
  }
});
