import { describe, expect, test } from "vitest";
import { parsePlainCall } from "./plain-call.ts";

const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "x" } };
const read = (message: unknown) => parsePlainCall(Buffer.from(JSON.stringify(message)));

describe("a plain tool call", () => {
  test.each([
    ["without arguments", call, { id: 1, name: "x" }],
    ["with an id that is a text", { ...call, id: "a" }, { id: "a", name: "x" }],
    [
      "with arguments",
      { ...call, params: { name: "x", arguments: { a: [1] } } },
      { id: 1, name: "x", arguments: { a: [1] } },
    ],
  ])("a plain call %s is parsed", (_, message, expected) => {
    expect(read(message)).toEqual(expected);
  });

  test.each<[string, unknown]>([
    ["of another method", { ...call, method: "tools/list" }],
    ["of another JSON-RPC", { ...call, jsonrpc: "1.0" }],
    ["without an id", { jsonrpc: "2.0", method: "tools/call", params: { name: "x" } }],
    ["with a fractional id", { ...call, id: 0.5 }],
    ["with an unsafe integer as its id", { ...call, id: 2 ** 53 }],
    ["with null as its id", { ...call, id: null }],
    ["with an unknown member", { ...call, result: {} }],
    ["without parameters", { jsonrpc: "2.0", id: 1, method: "tools/call" }],
    ["with a list of parameters", { ...call, params: ["x"] }],
    ["without a name", { ...call, params: { arguments: {} } }],
    ["with a number as its name", { ...call, params: { name: 7 } }],
    ["with a list of arguments", { ...call, params: { name: "x", arguments: [] } }],
    ["with null as its arguments", { ...call, params: { name: "x", arguments: null } }],
    ["that requests progress", { ...call, params: { name: "x", _meta: { progressToken: 1 } } }],
    ["with meta data", { ...call, params: { name: "x", arguments: {}, _meta: {} } }],
    ["in a batch", [call, call]],
    ["that is only a text", "tools/call"],
  ])("a call %s is answered by the library", (_, message) => {
    expect(read(message)).toBeUndefined();
  });

  test.each(["", "{", "null", "\ufeff{}"])("%j is not a plain call", (text) => {
    expect(parsePlainCall(Buffer.from(text))).toBeUndefined();
  });

  test("a plain call gets no prototype from a member named __proto__", () => {
    const text = JSON.stringify(call);
    expect(parsePlainCall(Buffer.from(text.replace("{", '{"__proto__":{"a":1},')))).toBeUndefined();
    const params = '"params":{"__proto__":{"name":"x"}}}';
    expect(
      parsePlainCall(Buffer.from(text.replace('"params":{"name":"x"}}', params))),
    ).toBeUndefined();
  });
});
