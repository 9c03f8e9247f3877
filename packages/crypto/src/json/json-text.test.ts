import { describe, expect, test } from "vitest";
import { parseJsonText } from "./json-text.ts";

describe("JSON texts", () => {
  test.each([
    ["null", null],
    ['"a:b"', "a:b"],
    ['{"a":1,"b":{"a":2}}', { a: 1, b: { a: 2 } }],
    ['[{"a":1},{"a":1}]', [{ a: 1 }, { a: 1 }]],
    [String.raw`{"a\"b:":"\\","c":":"}`, { 'a"b:': "\\", c: ":" }],
    ['{ "a" :\n[ ] }', { a: [] }],
  ])("%s", (text, value) => {
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
  ])("the JSON text %s is refused", (text) => {
    expect(parseJsonText(text)).toBeNull();
  });

  test("a JSON text may have __proto__ as a member and any depth", () => {
    expect(Object.keys(parseJsonText('{"__proto__":1}')?.value as object)).toEqual(["__proto__"]);
    expect(parseJsonText(`${"[".repeat(5_000)}${"]".repeat(5_000)}`)).not.toBeNull();
  });
});
