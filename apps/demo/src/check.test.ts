import { expect, test } from "vitest";
import { all } from "./check.ts";

test.each([
  [[true, true], true],
  [[true, false], false],
  [[], false],
])("of %j, all hold: %j", (held, expected) => {
  expect(all(held)).toBe(expected);
});
