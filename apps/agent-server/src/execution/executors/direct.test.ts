import { describe, expect, test } from "vitest";
import type { CallAnswer } from "../../tools/calling/call-tool.ts";
import type { ToolDefinition } from "../../tools/definition.ts";
import { directExecutor, findPromptParameter } from "./direct.ts";
import { buildTestToolbox } from "../../testing/tools/test-offer.ts";

const text = { type: "string" };
const number = { type: "number" };

describe("the prompt goes to", () => {
  test.each([
    ["the first required text", { a: text, b: text, c: text }, ["b", "c"], "b"],
    ["the first text when none is required", { n: number, a: text, b: text }, [], "a"],
    ["the first text when only others are required", { n: number, a: text }, ["n"], "a"],
    ["a required text behind a required number", { n: number, a: text }, ["n", "a"], "a"],
    ["nothing when there is no text", { n: number }, ["n"], undefined],
    ["nothing when there are no parameters", {}, [], undefined],
  ])("%s", (_, properties, required, expected) => {
    const inputSchema = { type: "object", properties, required };
    expect(findPromptParameter({ inputSchema })).toBe(expected);
  });

  test.each([{}, { properties: null }, { properties: [] }, { properties: { a: true } }])(
    "nothing in the schema %j",
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

  test("runs the tool whose name is a required capability", async () => {
    const { calls, outcome } = await execute(tools, ["other", "second"]);
    expect(calls).toEqual([["second", { text: "words" }]]);
    expect(outcome).toEqual({ status: "completed", result: "result" });
  });

  test("else the first tool", async () => {
    expect((await execute(tools, ["other"])).calls).toEqual([["first", { text: "words" }]]);
  });

  test("a tool that the policy or the scope refuses makes the task denied", async () => {
    const { outcome } = await execute(tools, [], { ok: false, kind: "denied", error: "no" });
    expect(outcome).toEqual({ status: "denied", result: "no" });
  });

  test("a tool that fails makes the task failed", async () => {
    const { outcome } = await execute(tools, [], { ok: false, kind: "failed", error: "broken" });
    expect(outcome).toEqual({ status: "failed", result: "broken" });
  });

  test("without a fitting tool the task fails", async () => {
    const noText = { name: "n", description: "", inputSchema: { type: "object" } };
    expect((await execute([], [])).outcome.status).toBe("failed");
    expect((await execute([noText], [])).outcome.status).toBe("failed");
  });
});
