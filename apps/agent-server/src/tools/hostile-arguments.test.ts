import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { owner } from "../caller.ts";
import { silentLog } from "../log.ts";
import { createSystemRuntime } from "../runtime.ts";
import { createTestGuard } from "../testing/tools/test-guard.ts";
import { createToolCaller } from "./calling/call-tool.ts";
import { compileTool } from "./calling/compile-tool.ts";
import type { JsonObject } from "./definition.ts";
import { compileLinearPattern, UnsupportedPattern } from "./calling/compile-linear-pattern.ts";
import { parseTools } from "./load-module.ts";
import { createRegistry } from "./registry.ts";

const inputSchema = (properties: JsonObject): JsonObject => ({ type: "object", properties });
const named = (name: string, properties: JsonObject) => ({
  definition: { name, description: "", inputSchema: inputSchema(properties), risk: 0 as const },
  handler: () => ({ ok: true as const, data: "ran" }),
});

async function call(properties: JsonObject, args: unknown, onRun = () => {}) {
  const tool = named("tool", properties);
  const handler = () => {
    onRun();
    return tool.handler();
  };
  const registry = createRegistry([compileTool({ ...tool, handler })]);
  const runtime = createSystemRuntime(silentLog);
  const callTool = createToolCaller({ registry, guard: createTestGuard(), runtime });
  const startedAt = performance.now();
  const answer = await callTool("tool", args, {
    caller: owner,
    signal: new AbortController().signal,
  });
  return { answer, ms: performance.now() - startedAt };
}

const unique = { list: { type: "array", uniqueItems: true } };

describe("H6: a schema that refers to itself", () => {
  /** A number, or an operator with two expressions; each operator is a separate alternative. */
  const expression = { $ref: "#/properties/expression" };
  const operation = (operator: string) => ({
    type: "object",
    required: ["operator", "left", "right"],
    properties: { operator: { const: operator }, left: expression, right: expression },
  });
  const calculator = {
    expression: { oneOf: [{ type: "number" }, ...["+", "-", "*", "/"].map(operation)] },
  };
  function nested(depth: number): unknown {
    return depth === 0 ? 1 : { operator: "+", left: nested(depth - 1), right: 1 };
  }

  test("H6: deep arguments for a recursive schema do not block the agent", async () => {
    const { answer, ms } = await call(calculator, { expression: nested(40) });
    expect(answer).toMatchObject({ ok: false, kind: "invalid" });
    expect(ms).toBeLessThan(2_000);
  });

  test("H6: a recursive schema accepts ordinary arguments and names their faults", async () => {
    expect((await call(calculator, { expression: nested(4) })).answer).toMatchObject({ ok: true });
    const { answer } = await call(calculator, { expression: { operator: "?" } });
    expect(answer).toMatchObject({ ok: false, kind: "invalid" });
    expect(answer.ok ? "" : answer.error).toContain("left: is required");
  });

  test("H6: a schema that refers to itself at the same level refuses every argument", async () => {
    const properties = { loop: { allOf: [{ $ref: "#/properties/loop" }] } };
    const { answer } = await call(properties, { loop: 1 });
    expect(answer).toMatchObject({ ok: false, kind: "invalid" });
  });
});

describe("H6: uniqueItems", () => {
  const objects = Array.from({ length: 3_000 }, (_, index) => ({ id: index, of: "x" }));

  test("H6: uniqueItems validates 3,000 distinct objects in well under a second", async () => {
    const { answer, ms } = await call(unique, { list: objects });
    expect(answer).toMatchObject({ ok: true });
    expect(ms).toBeLessThan(1_000);
  });

  test("H6: uniqueItems finds one duplicate among 3,000 objects in any order of members", async () => {
    const list = [...objects, { of: "x", id: 7 }];
    expect((await call(unique, { list })).answer).toMatchObject({ ok: false, kind: "invalid" });
  });

  test.each<[unknown[], boolean]>([
    [[1, "1", true, null, [1], { a: 1 }], true],
    [[1, 1.0], false],
    [['{"a":1}', { a: 1 }, "1", 1], true],
    [["a", { a: "a" }, "a"], false],
    [
      [
        [1, 2],
        [2, 1],
      ],
      true,
    ],
    [[{ a: { b: [] } }, { a: { b: [] } }], false],
    [[], true],
  ])("H6: uniqueItems accepts the ordinary array %j: %j", async (list, valid) => {
    expect((await call(unique, { list })).answer.ok).toBe(valid);
  });

  test("H6: uniqueItems with the value false allows duplicates", async () => {
    const properties = { list: { type: "array", uniqueItems: false } };
    expect((await call(properties, { list: [1, 1] })).answer.ok).toBe(true);
  });

  test.each([
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
  ])("H6: uniqueItems is linear in the dialect %s", ($schema) => {
    const tool = named("tool", unique);
    const schema = { ...tool.definition.inputSchema, $schema };
    const definition = { ...tool.definition, inputSchema: schema };
    const compiled = compileTool({ ...tool, definition });
    const verdicts = [
      [1, 1],
      [1, 2],
    ].map((list) => compiled.check({ list }).ok);
    expect(verdicts).toEqual([false, true]);
  });
});

describe("H6: a pattern", () => {
  test.each(["^(a+)+$", "^(a|a)*b$", "^(a|aa)+$", "(x+x+)+y", "^(.*)*,$"])(
    "H6: a catastrophic pattern (%s) does not block the agent",
    async (pattern) => {
      const text = `${pattern.includes("x") ? "x" : "a"}`.repeat(100_000);
      const { ms } = await call({ text: { type: "string", pattern } }, { text: `${text}!` });
      expect(ms).toBeLessThan(2_000);
    },
  );

  test.each<[string, string, boolean]>([
    ["^[a-z]{2,5}-\\d+$", "abc-42", true],
    ["^[a-z]{2,5}-\\d+$", "abc-4x", false],
    ["b", "abc", true],
    ["^\\p{L}+$", "grüße", true],
    ["^\\S+@\\S+\\.[a-z]+$", "a@b.example", true],
    ["^\\S+$", "a\u00a0b", false],
    ["^[\\s,]+$", "\u00a0, \n", true],
    ["^.$", "\u2028", false],
    ["^.$", "😀", true],
    ["^(?:19|20)\\d\\d/\\u{1F600}$", "2020/😀", true],
    ["^a$", "a\n", false],
  ])("H6: an ordinary pattern (%s) matches %j: %j", async (pattern, text, valid) => {
    expect(new RegExp(pattern, "u").test(text)).toBe(valid);
    const { answer } = await call({ text: { type: "string", pattern } }, { text });
    expect(answer.ok).toBe(valid);
  });

  test("H6: a pattern matches any text as in ECMAScript", () => {
    const patterns = [
      "^\\w+$",
      "\\bfoo\\b",
      "[^\\s.]x",
      "^(?<year>\\d{4})?$",
      "\\.",
      "[.]",
      "^\\W*$",
    ];
    const text = fc.string({ unit: fc.constantFrom(...Array.from("fo x.1\n\u00a0é2_-")) });
    fc.assert(
      fc.property(fc.constantFrom(...patterns), text, (pattern, value) => {
        expect(compileLinearPattern(pattern).test(value)).toBe(
          new RegExp(pattern, "u").test(value),
        );
      }),
    );
  });

  test.each(["(?=a)b", "(a)\\1", "(?<!a)b"])(
    "H6: a pattern without a linear form (%s) is refused",
    (one) => {
      expect(() => compileLinearPattern(one)).toThrow(UnsupportedPattern);
    },
  );

  test("H6: a tool whose pattern has no linear form is skipped by name, and the others are offered", () => {
    const backwards = { type: "string", pattern: "^(a)\\1$" };
    const read = parseTools([named("odd", { text: backwards }), named("even", {})], "tools.mjs");
    expect(read).toMatchObject({ ok: true, tools: [{ definition: { name: "even" } }] });
    expect(read.ok && read.skipped).toEqual([
      expect.stringMatching(/^tools\.mjs: tool "odd" is skipped: pattern /),
    ]);
  });

  test("H6: a malformed pattern stops the start", () => {
    const broken = { text: { type: "string", pattern: "(" } };
    expect(parseTools([named("odd", broken)], "tools.mjs").ok).toBe(false);
  });
});

describe("H6: arguments are bounded before they are validated:", () => {
  const nested = (levels: number) => {
    let value: unknown = 1;
    for (let level = 0; level < levels; level++) value = [value];
    return value;
  };
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
  test.each<[string, unknown, boolean]>([
    ["50 levels", { list: nested(50) }, true],
    ["100 levels", { list: nested(100) }, false],
    ["10,000 values", { list: numbers(9_999) }, true],
    ["10,001 values", { list: numbers(10_000) }, false],
    ["10,001 values in many objects", { list: numbers(3_334).map((a) => ({ a, b: [] })) }, false],
    ["a long text", { text: "x".repeat(1_000_000) }, true],
    ["a text beyond the size of a request", { text: "x".repeat(1_100_000) }, false],
    ["member names beyond the size of a request", { [`x${"y".repeat(1_100_000)}`]: 1 }, false],
  ])("H6: arguments with %s are bounded before they are validated", async (_, args, allowed) => {
    const { answer, ms } = await call({ text: {}, list: {} }, args);
    expect(answer.ok ? "ran" : answer.kind).toBe(allowed ? "ran" : "invalid");
    expect(ms).toBeLessThan(1_000);
  });
});

describe("H6: the steps of a call with large arguments", () => {
  const numbers = Array.from({ length: 5_000 }, (_, index) => index);
  test.each<[string, unknown, number]>([
    ["two numbers", { list: [1, 2] }, 0],
    ["5,000 numbers", { list: numbers }, 4],
    ["a text of 100 KB", { text: "x".repeat(100_000) }, 4],
  ])(
    "H6: a call with %s lets the event loop run in proportion to its size",
    async (_, args, expected) => {
      let turns = 0;
      let turnsBefore = -1;
      const turn = (): unknown => (turns += 1) < 100 && setImmediate(turn);
      setImmediate(turn);
      await call({ ...unique, text: {} }, args, () => (turnsBefore = turns));
      expect(turnsBefore).toBe(expected);
    },
  );
});
