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
])("the text %s is parsed", (text, value) => {
  expect(parseJsonc(text)).toEqual(value);
});

test.each(["{,}", "[,]", "{/* open}", '{"a" 1}', "", "{} /"])("the text %s is rejected", (text) => {
  expect(() => parseJsonc(text)).toThrow(SyntaxError);
});

test("an error after comments names its own line", () => {
  const text = '{ /* one\nmore */\n"a": 1 // a\n"b": 2\n}';
  expect(() => parseJsonc(text)).toThrow(/line 4/);
});

test.each<[string, string]>([
  ['{\r\n  "a": secret\r\n}', "line 2, column 8: invalid symbol"],
  ['{"a": "secret', "line 1, column 7: unexpected end of string"],
  ['{"a": "se\tcret"}', "line 1, column 7: invalid character"],
  ['{"a": [1,,]}', "line 1, column 10: value expected"],
  ["{} secret", "line 1, column 4: invalid symbol"],
  ["", "line 1, column 1: value expected"],
])("the message about %j names line and column and quotes nothing", (text, message) => {
  expect(() => parseJsonc(text)).toThrow(new SyntaxError(message));
});

test("a member named __proto__ is an ordinary member", () => {
  const parsed = parseJsonc('{"__proto__": {"polluted": true}}') as object;
  expect(Object.keys(parsed)).toEqual(["__proto__"]);
  expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
});

test("any JSON is parsed as JSON.parse does", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(parseJsonc(text)).toEqual(JSON.parse(text));
    }),
  );
});
