import { expect, test } from "vitest";
import { isWithinScope } from "./delegation-scope.ts";

test.each<[string, boolean, readonly string[], string]>([
  ["names every tool used", true, ["read", "write"], "read, count ,write"],
  ["does not name one of them", false, ["read", "pay"], "read,write"],
  ["is empty, and no tool was used", true, [], ""],
  ["is empty", false, ["read"], ""],
  ["is empty, like the name of the tool", false, [""], ""],
  ["ends with a comma, and the name of the tool is empty", false, ["read", ""], "read,"],
])("a scope that %s: %s", (_, expected, toolsUsed, scope) => {
  expect(isWithinScope(toolsUsed, scope)).toBe(expected);
});
