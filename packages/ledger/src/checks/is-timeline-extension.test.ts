import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { timelineArbitrary } from "../../test/fixtures.ts";
import { hashTimeline, isTimelineExtension } from "../index.ts";

describe("extensions of signed timelines", () => {
  test("an extension of a signed timeline has the same events and may have more after them", () => {
    fc.assert(
      fc.property(timelineArbitrary, timelineArbitrary, (older, more) => {
        expect(isTimelineExtension([...structuredClone(older), ...more], older)).toBe(true);
      }),
    );
  });

  test("an extension of a signed timeline has no event before, between or in place of the original ones", () => {
    fc.assert(
      fc.property(timelineArbitrary, timelineArbitrary, (older, newer) => {
        const kept = newer.slice(0, older.length);
        expect(isTimelineExtension(newer, older)).toBe(hashTimeline(kept) === hashTimeline(older));
      }),
    );
  });

  test("an extension of a signed timeline is not shorter than the original", () => {
    fc.assert(
      fc.property(
        timelineArbitrary.filter(({ length }) => length > 0),
        (older) => {
          expect(isTimelineExtension(older.slice(0, -1), older)).toBe(false);
        },
      ),
    );
  });
});
