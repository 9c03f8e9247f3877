import { describe, expect, test } from "vitest";
import { owner } from "../../caller.ts";
import { silentLog } from "../../log.ts";
import { createSystemRuntime } from "../../runtime.ts";
import { createTestGuard } from "../../testing/tools/test-guard.ts";
import { createTestIdentity } from "../../testing/agents/test-identity.ts";
import { failingTool, shoutTool } from "../../testing/tools/test-tools.ts";
import { createToolCaller } from "../../tools/calling/call-tool.ts";
import { createRegistry } from "../../tools/registry.ts";
import { createTaskRunner } from "../run-task.ts";
import { compileTool } from "../../tools/calling/compile-tool.ts";
import type { CallAnswer } from "../../tools/calling/call-tool.ts";
import type { JsonObject, ToolDefinition } from "../../tools/definition.ts";
import { chooseTools } from "../tool-access/choose-tools.ts";
import { fillArguments } from "./fill-arguments.ts";
import { rulesExecutor } from "./rules.ts";
import { buildTestOffer, buildTestToolbox } from "../../testing/tools/test-offer.ts";

const text = { type: "string" };
const number = { type: "number" };

function tool(
  name: string,
  description = "",
  properties: JsonObject = { text },
  required: string[] = Object.keys(properties),
): ToolDefinition {
  return { name, description, inputSchema: { type: "object", properties, required } };
}

describe("the tools for a task are", () => {
  const tools = [
    tool("first", "Does something"),
    tool("translate_text", "Translates between languages"),
    tool("countWords", "Counts the words of a text"),
    tool("weather", "Tells the forecast of a city"),
  ];
  test.each<[string, string, string[], string[]]>([
    [
      "its required capabilities",
      "use first",
      ["weather", "unknown", "countWords", "weather"],
      ["weather", "countWords"],
    ],
    [
      "else those that the prompt names, in its order",
      "count words, then translate text and count words",
      [],
      ["countWords", "translate_text"],
    ],
    [
      "the one whose words fit best, if none is named",
      "Is there a forecast for this city?",
      [],
      ["weather"],
    ],
    ["the first one, if no words fit", "xyzzy", [], ["first"]],
    ["the first one, if the capability has no tool", "xyzzy", ["unknown"], ["first"]],
    ["not those whose name is only part of a word", "firsthand weatherproof", [], ["first"]],
  ])("the tools for a task are %s", (_, prompt, requiredCapabilities, expected) => {
    const chosen = chooseTools({ prompt, requiredCapabilities }, buildTestToolbox(tools));
    expect(chosen.map(({ name }) => name)).toEqual(expected);
  });

  test("no tool is chosen when there is none", () => {
    expect(chooseTools({ prompt: "x", requiredCapabilities: [] }, buildTestToolbox([]))).toEqual(
      [],
    );
  });
});

describe("arguments come from", () => {
  const unit = { enum: ["celsius", "fahrenheit"] };
  test.each<[string, ToolDefinition, string, JsonObject]>([
    ["the whole prompt for the text", tool("echo"), "say hi", { text: "say hi" }],
    ["the prompt without the tool's name", tool("echo"), "echo: hi you", { text: "hi you" }],
    ["the prompt without the name and quotes", tool("echo"), 'Echo "hi you"', { text: "hi you" }],
    [
      "but not without a word that only begins like it",
      tool("echo"),
      "echoes fade",
      { text: "echoes fade" },
    ],
    [
      "a JSON object that fits",
      tool("echo", "", { text, n: number }, ["text"]),
      '{"text":"a","n":2}',
      { text: "a", n: 2 },
    ],
    [
      "but not from one that lacks something",
      tool("echo"),
      '{"words":"a"}',
      { text: '{"words":"a"}' },
    ],
    [
      "but not from one that has more",
      tool("echo"),
      '{"text":"a","b":1}',
      { text: '{"text":"a","b":1}' },
    ],
    [
      "numbers in their order",
      tool("add", "", { a: number, b: number }),
      "What is 2 plus -3.5?",
      { a: 2, b: -3.5 },
    ],
    [
      "a choice by its value",
      tool("t", "", { text, unit }),
      "Berlin in Celsius",
      { text: "Berlin in Celsius", unit: "celsius" },
    ],
    [
      "named values",
      tool("t", "", { text, from: text, n: number, on: { type: "boolean" } }, ["text"]),
      "go from=de, N: 3 on=true",
      { text: "go from=de, N: 3 on=true", from: "de", n: 3, on: true },
    ],
    [
      "named values in quotes",
      tool("t", "", { text, to: text }),
      `text: "hello, you" to='New York'`,
      { text: "hello, you", to: "New York" },
    ],
    [
      "a label before the text, which is left in it",
      tool("t"),
      "text: one two",
      { text: "text: one two" },
    ],
    [
      "nothing for what is optional and not said",
      tool("t", "", { text, n: number, from: text }, ["text"]),
      "7 up",
      { text: "7 up" },
    ],
    ["nothing when there are no parameters", tool("now", "", {}), "what time is it?", {}],
  ])("arguments come from %s", (_, definition, prompt, expected) => {
    const filled = fillArguments(definition, prompt, prompt);
    expect(filled).toEqual({ ok: true, args: expected });
    const compiled = compileTool({ definition, handler: () => ({ ok: true, data: "" }) });
    expect(compiled.check(filled.ok ? filled.args : {}).ok).toBe(true);
  });

  test.each<[string, ToolDefinition, string, string]>([
    ["a number", tool("t", "", { n: number }), "no digits", "n"],
    ["a second number", tool("t", "", { a: number, b: number }), "only 1 here", "b"],
    ["a choice", tool("t", "", { unit }), "in kelvin", "unit"],
    ["a second text", tool("t", "", { text, to: text }), "hello", "to"],
    ["a list", tool("t", "", { all: { type: "array" } }), "a, b", "all"],
  ])("arguments are incomplete when the prompt lacks %s", (_, definition, prompt, missing) => {
    expect(fillArguments(definition, prompt, prompt)).toEqual({ ok: false, missing });
  });

  test.each([
    {},
    { properties: null },
    { properties: [], required: 7 },
    { properties: { a: true } },
  ])("arguments are empty for the schema %j", (inputSchema) => {
    expect(fillArguments({ name: "t", inputSchema }, "x", "x")).toEqual({ ok: true, args: {} });
  });
});

async function execute(
  tools: ToolDefinition[],
  prompt: string,
  answers: Readonly<Record<string, CallAnswer>> = {},
  requiredCapabilities: string[] = [],
) {
  const calls: unknown[] = [];
  const outcome = await rulesExecutor.execute(
    { taskId: "t", prompt, requiredCapabilities, submittedAt: 0 },
    buildTestToolbox(tools, async (name, args) => {
      calls.push([name, args]);
      return answers[name] ?? { ok: true, data: `${name} done` };
    }),
    new AbortController().signal,
  );
  return { calls, outcome };
}

test("a step outside the scope of the delegation does not run, and the task is denied", async () => {
  const registry = createRegistry([shoutTool, failingTool]);
  const runtime = createSystemRuntime(silentLog);
  const run = createTaskRunner({
    identity: createTestIdentity(),
    deviceId: () => "device",
    tools: () => registry.definitions,
    offer: buildTestOffer(registry.definitions),
    callTool: createToolCaller({ registry, guard: createTestGuard(), runtime }),
    executor: rulesExecutor,
    delegateTask: undefined,
    taskTimeoutMs: 5_000,
    runtime,
  });
  const task = { taskId: "t", requiredCapabilities: [], submittedAt: Date.now(), scope: ["shout"] };
  const { receipt: both } = await run(
    { ...task, prompt: "shout hi, then failing" },
    { caller: owner },
  );
  expect(both).toMatchObject({
    status: "denied",
    tools_used: ["shout"],
    delegated_scope: "shout",
  });
  const { receipt: one } = await run({ ...task, prompt: "shout hi" }, { caller: owner });
  expect(one).toMatchObject({ status: "completed", result: "HI" });
});

describe("execution by rules", () => {
  const tools = [tool("fetch"), tool("sum", "", { text, n: number }), tool("send")];

  test("execution by rules passes the answer of each tool to the next and returns the last", async () => {
    const { calls, outcome } = await execute(tools, "fetch the page, sum it in 3 lines, send");
    expect(calls).toEqual([
      ["fetch", { text: "the page, sum it in 3 lines, send" }],
      ["sum", { text: "fetch done", n: 3 }],
      ["send", { text: "sum done" }],
    ]);
    expect(outcome).toEqual({ status: "completed", result: "send done" });
  });

  test("execution by rules uses the members of a JSON answer as the arguments of the next tool", async () => {
    const json = '{"text":"a","n":9}';
    const answers = { fetch: { ok: true, data: json } } as const;
    const { calls } = await execute(tools, "p", answers, ["fetch", "sum"]);
    expect(calls[1]).toEqual(["sum", { text: "a", n: 9 }]);
  });

  test.each([
    ["denied", "denied"],
    ["failed", "failed"],
    ["aborted", "failed"],
    ["invalid", "failed"],
  ] as const)(
    "execution by rules stops at a tool that is %s, and the task is %s",
    async (kind, status) => {
      const answers = { fetch: { ok: false, kind, error: "no" } } as const;
      const { calls, outcome } = await execute(tools, "fetch and send", answers);
      expect(calls).toHaveLength(1);
      expect(outcome).toEqual({ status, result: "no" });
    },
  );

  test("execution by rules runs no tool when the first one lacks an argument, and names that argument", async () => {
    const { calls, outcome } = await execute(tools, "sum this");
    expect(calls).toEqual([]);
    expect(outcome).toEqual({
      status: "failed",
      result: 'Tool "sum" needs "n", which the prompt does not contain',
    });
  });

  test("execution by rules fails without tools and with more than 10 tools", async () => {
    expect((await execute([], "x")).outcome.status).toBe("failed");
    const many = Array.from({ length: 11 }, (_, n) => tool(`tool${n}`));
    const prompt = (count: number) =>
      many
        .slice(0, count)
        .map(({ name }) => name)
        .join(" ");
    expect((await execute(many, prompt(11))).outcome.status).toBe("failed");
    expect((await execute(many, prompt(10))).outcome.status).toBe("completed");
  });

  test("execution by rules is deterministic", async () => {
    const once = await execute(tools, "send 3 letters");
    expect(await execute(tools, "send 3 letters")).toEqual(once);
  });
});
