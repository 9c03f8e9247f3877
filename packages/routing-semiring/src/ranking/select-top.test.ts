import fc from "fast-check";
import { expect, test } from "vitest";
import { selectTop } from "./select-top.ts";

const ascending = (a: number, b: number) => a - b;

test("selectTop returns the first items of a full sort", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(200), { maxLength: 500 }), fc.nat(40), (items, limit) => {
      expect(selectTop(items, limit, ascending)).toEqual(items.toSorted(ascending).slice(0, limit));
    }),
  );
});

test.each([
  [Infinity, [1, 2, 3]],
  [2.9, [1, 2]],
  [0.5, []],
  [-1, []],
  [NaN, []],
])("selectTop with a limit of %d returns %j", (limit, expected) => {
  expect(selectTop([3, 1, 2], limit, ascending)).toEqual(expected);
});
