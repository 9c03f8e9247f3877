import { expect, test } from "vitest";
import { allHold } from "./demo-check.ts";

test.each([
  [[true, true], true],
  [[true, false], false],
  [[], false],
])("all conditions of %j are true: %j", (held, expected) => {
  expect(allHold(held)).toBe(expected);
});
