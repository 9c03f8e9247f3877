import { describe, expect, test } from "vitest";
import fc from "fast-check";
import { canonicalize } from "./canonical-json.ts";
import { parseJsonText, readJsonText } from "./json-text.ts";

describe("JSON texts", () => {
  test.each([
    ["null", null],
    ['"a:b"', "a:b"],
    ['{"a":1,"b":{"a":2}}', { a: 1, b: { a: 2 } }],
    ['[{"a":1},{"a":1}]', [{ a: 1 }, { a: 1 }]],
    [String.raw`{"a\"b:":"\\","c":":"}`, { 'a"b:': "\\", c: ":" }],
    ['{ "a" :\n[ ] }', { a: [] }],
  ])("the JSON text %s is read", (text, value) => {
    expect(parseJsonText(text)).toEqual({ value });
  });

  test.each([
    "",
    "{",
    "{'a':1}",
    '{"a":1,"a":1}',
    String.raw`{"a":1,"\u0061":2}`,
    '[{"a":{"b":1,"b":2}}]',
    '{"__proto__":1,"__proto__":2}',
    '{"a":9007199254740993}',
    "[-9007199254740993]",
    "1152921504606846976",
    '{"a":1000000000000000000001}',
    '{"a":123456789012345678901234}',
    "1" + "0".repeat(400),
  ])("the JSON text %s is refused", (text) => {
    expect(parseJsonText(text)).toBeNull();
  });

  test.each([
    ["{", "", "must be JSON"],
    ['{"a":{"b":1,"b":1}}', "", "must be JSON in which no object repeats a member"],
    [
      String.raw`{"a":1,"x\\":{"order\u005fid" : [7, 9007199254740993]},"b":9007199254740993}`,
      "order_id",
      "must be an integer below 2^53, or have the digits of its canonical JSON",
    ],
    [
      '{"list":[{"b":1},[],9007199254740993]}',
      "list",
      "must be an integer below 2^53, or have the digits of its canonical JSON",
    ],
    [
      '{"a":{"b":[{}]},"c":[{"d":{"e":1}},[9007199254740993]]}',
      "c",
      "must be an integer below 2^53, or have the digits of its canonical JSON",
    ],
    [
      "-9007199254740993",
      "",
      "must be an integer below 2^53, or have the digits of its canonical JSON",
    ],
  ])("the fault of the JSON text %s names the member", (text, path, message) => {
    expect(readJsonText(text)).toEqual({
      fault: { path, message, isJson: message !== "must be JSON" },
    });
  });

  test.each([
    '{"a":9007199254740992,"9007199254740993":"9007199254740993:1"}',
    "1152921504606847000",
    "-9007199254740991",
    "0.30000000000000004",
    "9007199254740993.5",
    "1e+30",
    "1000000000000000000000",
    "-1234500000000000000000000",
    "123456789012345678e2",
  ])("the JSON text %s has one spelling, or is no integer", (text) => {
    expect(parseJsonText(text)).toEqual({ value: JSON.parse(text) as unknown });
  });

  test("every canonical JSON text is read as its value", () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.bigInt().map(Number), fc.double()), (value) => {
        fc.pre(typeof value !== "number" || (Number.isFinite(value) && !Object.is(value, -0)));
        const text = canonicalize(value);
        expect(parseJsonText(text)).toEqual({ value: JSON.parse(text) as unknown });
      }),
    );
  });

  test("a JSON text may have __proto__ as a member and any depth", () => {
    expect(Object.keys(parseJsonText('{"__proto__":1}')?.value as object)).toEqual(["__proto__"]);
    expect(parseJsonText(`${"[".repeat(5_000)}${"]".repeat(5_000)}`)).not.toBeNull();
  });
});
