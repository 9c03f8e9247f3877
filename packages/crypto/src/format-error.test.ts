import { expect, test } from "vitest";
import { formatError } from "./format-error.ts";

test("an error is formatted as its message, without its name", () => {
  expect(formatError(new TypeError("the text must be short"))).toBe("the text must be short");
});

test.each([
  ["a reason", "a reason"],
  [undefined, "undefined"],
  [{ message: "not an error" }, "[object Object]"],
])("the thrown value %j, which is no error, is formatted as its text", (thrown, text) => {
  expect(formatError(thrown)).toBe(text);
});
