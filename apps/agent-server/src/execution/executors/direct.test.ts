import { describe, expect, test } from "vitest";
import type { CallAnswer } from "../../tools/calling/call-tool.ts";
import type { ToolDefinition } from "../../tools/definition.ts";
import { directExecutor, findPromptParameter } from "./direct.ts";
import { buildTestToolbox } from "../../testing/tools/test-offer.ts";

const text = { type: "string" };
const number = { type: "number" };

describe("the parameter for the prompt", () => {
  test.each([
    ["the first required text", { a: text, b: text, c: text }, ["b", "c"], "b"],
    ["the first text when none is required", { n: number, a: text, b: text }, [], "a"],
    ["the first text when only others are required", { n: number, a: text }, ["n"], "a"],
    ["a required text after a required number", { n: number, a: text }, ["n", "a"], "a"],
    ["no parameter when none is a text", { n: number }, ["n"], undefined],
    ["no parameter when there are none", {}, [], undefined],
  ])("the prompt goes to %s", (_, properties, required, expected) => {
    const inputSchema = { type: "object", properties, required };
    expect(findPromptParameter({ inputSchema })).toBe(expected);
  });

  test.each([{}, { properties: null }, { properties: [] }, { properties: { a: true } }])(
    "no parameter for the prompt is found in the schema %j",
    (inputSchema) => {
      expect(findPromptParameter({ inputSchema })).toBeUndefined();
    },
  );
});

function named(name: string): ToolDefinition {
  const inputSchema = { type: "object", properties: { text }, required: ["text"] };
  return { name, description: "", inputSchema };
}

async function execute(
  tools: ToolDefinition[],
  requiredCapabilities: string[],
  answer?: CallAnswer,
) {
  const calls: unknown[] = [];
  const task = { taskId: "t", prompt: "words", requiredCapabilities, submittedAt: 0 };
  const outcome = await directExecutor.execute(
    task,
    buildTestToolbox(tools, async (name, args) => {
      calls.push([name, args]);
      return answer ?? { ok: true, data: "result" };
    }),
    new AbortController().signal,
  );
  return { calls, outcome };
}

describe("direct execution", () => {
  const tools = [named("first"), named("second")];

  test("direct execution runs the tool whose name is a required capability", async () => {
    const { calls, outcome } = await execute(tools, ["other", "second"]);
    expect(calls).toEqual([["second", { text: "words" }]]);
    expect(outcome).toEqual({ status: "completed", result: "result" });
  });

  test("direct execution runs the first tool when no capability is required", async () => {
    expect((await execute(tools, ["other"])).calls).toEqual([["first", { text: "words" }]]);
  });

  test("direct execution denies the task when the policy or the scope refuses the tool", async () => {
    const { outcome } = await execute(tools, [], { ok: false, kind: "denied", error: "no" });
    expect(outcome).toEqual({ status: "denied", result: "no" });
  });

  test("direct execution fails the task when the tool fails", async () => {
    const { outcome } = await execute(tools, [], { ok: false, kind: "failed", error: "broken" });
    expect(outcome).toEqual({ status: "failed", result: "broken" });
  });

  test("direct execution fails the task without a suitable tool", async () => {
    const noText = { name: "n", description: "", inputSchema: { type: "object" } };
    expect((await execute([], [])).outcome.status).toBe("failed");
    expect((await execute([noText], [])).outcome.status).toBe("failed");
  });
});
