import { expect, test } from "vitest";
import { parseNumber } from "./parse-number.ts";

test.each([
  ["0", 0],
  ["12", 12],
  ["0.75", 0.75],
  ["", undefined],
  [" ", undefined],
  ["1e3", undefined],
  ["0x10", undefined],
  ["1,5", undefined],
  ["-1", undefined],
  ["50 %", undefined],
  ["Infinity", undefined],
])("the text %j of a field is the number %s", (text, number) => {
  expect(parseNumber(text)).toBe(number);
});
