import fc from "fast-check";
import { expect, test } from "vitest";
import { parseJsonc } from "./parse-jsonc.ts";

test.each<[string, unknown]>([
  ['{"a": 1} // behind', { a: 1 }],
  ['// before\n{"a": 1}', { a: 1 }],
  ['{/* one\nmore */"a": 1}', { a: 1 }],
  ['{"a": [1, 2,], // both\n}', { a: [1, 2] }],
  ['{"a": 1, /* then */ }', { a: 1 }],
  ['{"url": "http://a/*b*/"}', { url: "http://a/*b*/" }],
  [String.raw`{"quote": "\"//,]"}`, { quote: '"//,]' }],
])("%s is read", (text, value) => {
  expect(parseJsonc(text)).toEqual(value);
});

test.each(["{,}", "[,]", "{/* open}", '{"a" 1}', "", "{} /"])(
  "%s is no JSON either way",
  (text) => {
    expect(() => parseJsonc(text)).toThrow(SyntaxError);
  },
);

test("a mistake behind comments is named by its own line", () => {
  const text = '{ /* one\nmore */\n"a": 1 // a\n"b": 2\n}';
  expect(() => parseJsonc(text)).toThrow(/line 4/);
});

test("whatever is JSON already is read as before", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(parseJsonc(text)).toEqual(JSON.parse(text));
    }),
  );
});
