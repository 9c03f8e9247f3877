import { describe, expect, test } from "vitest";
import { compileSchema } from "./compile-schema.ts";

const region = { enum: ["eu", "us"] };
const schema = {
  type: "object",
  properties: {
    version: { type: "string", pattern: "^v[0-9]+$" },
    count: { type: "integer", minimum: 1 },
    where: {
      type: "object",
      properties: { region },
      required: ["region"],
      additionalProperties: false,
    },
    "a/b~c": { const: 1 },
    list: { type: "array", items: { type: "string" }, maxItems: 2 },
  },
  required: ["version"],
  additionalProperties: false,
};
const version = "v1";

describe("a fault of arguments names the member and its rule", () => {
  test.each<[args: unknown, fault: string]>([
    [{}, "version: is required"],
    [{ version: 5 }, "version: must be string"],
    [{ version: "1" }, 'version: must match pattern "^v[0-9]+$"'],
    [{ version, count: 0.5 }, "count: must be integer; count: must be >= 1"],
    [{ version, counts: 1 }, "counts: is not allowed"],
    [{ version, where: {} }, "where.region: is required"],
    [{ version, where: { region: "eu", zone: 1 } }, "where.zone: is not allowed"],
    [{ version, where: { region: "asia" } }, 'where.region: must be one of "eu", "us"'],
    [{ version, "a/b~c": 2 }, "a/b~c: must be 1"],
    [{ version, list: ["x", 5] }, "list.1: must be string"],
    [{ version, list: ["x", "y", "z"] }, "list: must NOT have more than 2 items"],
    [[], "must be object"],
  ])("the fault of arguments names the member and its rule: %j", (args, fault) => {
    expect(compileSchema(schema)(args)).toEqual({ ok: false, fault });
  });

  test("the text about many faults names the first ones", () => {
    const many = Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`x${at}`, 1]));
    const checked = compileSchema(schema)({ version, ...many });
    const fault = checked.ok ? "" : checked.fault;
    expect(fault).toMatch(/^x0: is not allowed; x1: .*; x19: is not allowed; and 8980 more$/);
  });

  test("a member that no schema of a composition allows is named", () => {
    const composed = { allOf: [{ properties: { a: {} } }], unevaluatedProperties: false };
    expect(compileSchema(composed)({ a: 1, b: 2 })).toEqual({
      ok: false,
      fault: "b: is not allowed",
    });
  });
});
