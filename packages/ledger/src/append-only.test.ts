import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { timelines } from "../test/fixtures.ts";
import { contentHash, extendsTimeline } from "./index.ts";

describe("a signed timeline is only ever added to", () => {
  test("events behind its own extend it, and none at all", () => {
    fc.assert(
      fc.property(timelines, timelines, (older, more) => {
        expect(extendsTimeline([...structuredClone(older), ...more], older)).toBe(true);
      }),
    );
  });

  test("an event in front, between or in the place of its own does not", () => {
    fc.assert(
      fc.property(timelines, timelines, (older, newer) => {
        const kept = newer.slice(0, older.length);
        expect(extendsTimeline(newer, older)).toBe(contentHash(kept) === contentHash(older));
      }),
    );
  });

  test("a shorter one does not", () => {
    fc.assert(
      fc.property(
        timelines.filter(({ length }) => length > 0),
        (older) => {
          expect(extendsTimeline(older.slice(0, -1), older)).toBe(false);
        },
      ),
    );
  });
});
