import fc from "fast-check";
import pg from "pg";
import { expect, test } from "vitest";
import { formatArray } from "./format-array.ts";

test.each([
  ["no value", [], "{}"],
  ["numbers", [0, -1.5, 9_007_199_254_740_991, 12n], "{0,-1.5,9007199254740991,12}"],
  ["NULL, and the text of that name", [null, "NULL", "null"], '{NULL,"NULL","null"}'],
  ["empty and blank texts", ["", " ", "a b"], '{""," ","a b"}'],
  ["texts with the characters of an array", ["a,b", "{}"], '{"a,b","{}"}'],
  ["quotes and backslashes", ['{"a":1}', "\\", '\\"'], '{"{\\"a\\":1}","\\\\","\\\\\\""}'],
  ["U+0000, which PostgreSQL refuses", ["a\0b"], '{"a\u00010b"}'],
  ["bytes", [new Uint8Array([0, 255]), new Uint8Array()], '{"\\\\x00ff","\\\\x"}'],
])("the array of %s is formatted", (_, values, text) => {
  expect(formatArray(values)).toBe(text);
});

// The driver knows the types of arrays, but its declaration does not name them.
const getParser = pg.types.getTypeParser as (type: number) => (text: string) => unknown;
const TEXT_ARRAY = 1_009;

test("a formatted array is read as the same texts", () => {
  const parse = getParser(TEXT_ARRAY);
  const text = fc.string({ unit: fc.constantFrom('"', "\\", ",", "{", "}", "N", "\n", "é", " ") });
  fc.assert(
    fc.property(fc.array(fc.option(text)), (values) => {
      expect(parse(formatArray(values))).toEqual(values);
    }),
  );
});
