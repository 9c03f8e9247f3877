import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { timelineArbitrary } from "../../test/fixtures.ts";
import { hashTimeline, isTimelineExtension } from "../index.ts";

describe("a signed timeline is only ever added to", () => {
  test("events behind its own extend it, and none at all", () => {
    fc.assert(
      fc.property(timelineArbitrary, timelineArbitrary, (older, more) => {
        expect(isTimelineExtension([...structuredClone(older), ...more], older)).toBe(true);
      }),
    );
  });

  test("an event in front, between or in the place of its own does not", () => {
    fc.assert(
      fc.property(timelineArbitrary, timelineArbitrary, (older, newer) => {
        const kept = newer.slice(0, older.length);
        expect(isTimelineExtension(newer, older)).toBe(hashTimeline(kept) === hashTimeline(older));
      }),
    );
  });

  test("a shorter one does not", () => {
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
