import { expect, test } from "vitest";
import { isWholeList } from "./page-buttons.tsx";

test.each([
  ["the only page", [], null, true],
  ["the first of several pages, of which all rows are filtered out", [], "b", false],
  ["a later page, of which all rows have been done", ["b"], null, false],
])("only %s without rows is an empty list", (_, cursors, next, expected) => {
  expect(isWholeList({ cursors, next })).toBe(expected);
});
