import fc from "fast-check";
import { expect, test } from "vitest";
import { TopSelection } from "./top-selection.ts";

const ascending = (a: number, b: number) => a - b;

function selectTop(items: readonly number[], limit: number): number[] {
  const top = new TopSelection(limit, ascending);
  for (const item of items) top.add(item);
  return top.list();
}

test("a selection returns the first items of a full sort", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(200), { maxLength: 500 }), fc.nat(40), (items, limit) => {
      expect(selectTop(items, limit)).toEqual(items.toSorted(ascending).slice(0, limit));
    }),
  );
});

test.each([
  [Infinity, [1, 2, 3]],
  [2.9, [1, 2]],
  [0.5, []],
  [-1, []],
  [NaN, []],
])("a selection with a limit of %d contains %j", (limit, expected) => {
  expect(selectTop([3, 1, 2], limit)).toEqual(expected);
});
