import { describe, expect, test } from "vitest";
import { parsePlainCall } from "./plain-call.ts";

const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "x" } };
const read = (message: unknown) => parsePlainCall(JSON.stringify(message));

describe("a plain tool call", () => {
  test.each([
    ["without arguments", call, { id: 1, name: "x" }],
    ["with an id that is a text", { ...call, id: "a" }, { id: "a", name: "x" }],
    [
      "with arguments",
      { ...call, params: { name: "x", arguments: { a: [1] } } },
      { id: 1, name: "x", arguments: { a: [1] } },
    ],
  ])("%s is read", (_, message, expected) => {
    expect(read(message)).toEqual(expected);
  });

  test.each<[string, unknown]>([
    ["of another method", { ...call, method: "tools/list" }],
    ["of another JSON-RPC", { ...call, jsonrpc: "1.0" }],
    ["without an id", { jsonrpc: "2.0", method: "tools/call", params: { name: "x" } }],
    ["with half an id", { ...call, id: 0.5 }],
    ["with an id beyond exact numbers", { ...call, id: 2 ** 53 }],
    ["with null for an id", { ...call, id: null }],
    ["with a member of its own", { ...call, result: {} }],
    ["without parameters", { jsonrpc: "2.0", id: 1, method: "tools/call" }],
    ["with a list of parameters", { ...call, params: ["x"] }],
    ["without a name", { ...call, params: { arguments: {} } }],
    ["with a number for a name", { ...call, params: { name: 7 } }],
    ["with a list of arguments", { ...call, params: { name: "x", arguments: [] } }],
    ["with null for arguments", { ...call, params: { name: "x", arguments: null } }],
    ["that wants progress", { ...call, params: { name: "x", _meta: { progressToken: 1 } } }],
    ["with meta data", { ...call, params: { name: "x", arguments: {}, _meta: {} } }],
    ["among others", [call, call]],
    ["that is none", "tools/call"],
  ])("%s is the library's to understand", (_, message) => {
    expect(read(message)).toBeUndefined();
  });

  test.each(["", "{", "null", "\ufeff{}"])("%j is none", (text) => {
    expect(parsePlainCall(text)).toBeUndefined();
  });

  test("gains nothing by a member that JavaScript gives a meaning", () => {
    const text = JSON.stringify(call);
    expect(parsePlainCall(text.replace("{", '{"__proto__":{"a":1},'))).toBeUndefined();
    const params = '"params":{"__proto__":{"name":"x"}}}';
    expect(parsePlainCall(text.replace('"params":{"name":"x"}}', params))).toBeUndefined();
  });
});
