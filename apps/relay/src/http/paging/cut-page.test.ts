import { expect, test } from "vitest";
import { countToRead, cutPage } from "./cut-page.ts";

test.each<[stored: number, limit: number, shown: number, isLast: boolean]>([
  [0, 2, 0, true],
  [1, 2, 1, true],
  [2, 2, 2, true],
  [3, 2, 2, false],
  [4, 2, 2, false],
  [0, 0, 0, true],
  [1, 0, 0, false],
])("of %i rows a page of %i shows %i and is the last one: %s", (stored, limit, shown, isLast) => {
  const all = Array.from({ length: stored }, (_, index) => index);
  const page = cutPage(all.slice(0, countToRead(limit)), limit);
  expect(page).toEqual({ rows: all.slice(0, shown), isLast });
});
