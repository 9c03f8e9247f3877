import { expect, test } from "vitest";
import { hasCode } from "./reload-for-code.ts";

test.each([
  ["#code=Ab-_1", true],
  ["#pair=ABCD23", true],
  ["#pair=", false],
  ["#/tasks?q=code=1", false],
  ["#/code=1", false],
  ["", false],
])("whether the fragment %j is a link with a code: %s", (hash, expected) => {
  expect(hasCode(hash)).toBe(expected);
});
