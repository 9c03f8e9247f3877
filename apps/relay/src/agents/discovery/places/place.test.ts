import { expect, test } from "vitest";
import { countNewcomerPlaces, NEWCOMERS, toPlace } from "./place.ts";

test.each([
  [0, "50-id"],
  [1, "49-id"],
  [9, "49-id"],
  [10, "48-id"],
  [50_000, "45-id"],
  [99_999, "45-id"],
  [Number.MAX_SAFE_INTEGER, "34-id"],
])("E20: an agent that left fees of %i micro-units has the place %s", (fees, expected) => {
  expect(toPlace("id", fees)).toBe(expected);
  expect(expected < NEWCOMERS).toBe(fees > 0);
});

test("E20: agents sort by powers of ten of their fees, then by id", () => {
  const places = [toPlace("a", 0), toPlace("d", 12), toPlace("c", 99), toPlace("e", 100)];
  expect(places.toSorted()).toEqual(["47-e", "48-c", "48-d", "50-a"]);
});

test.each([
  [50, 0, 50],
  [50, 30, 20],
  [50, 40, 10],
  [50, 50, 10],
  [5, 5, 1],
  [4, 4, 0],
  [4, 3, 1],
  [1, 0, 1],
])(
  "E20: a page of %i agents, with %i that left fees, has room for %i newcomers",
  (limit, paid, expected) => {
    expect(countNewcomerPlaces(limit, paid)).toBe(expected);
  },
);
