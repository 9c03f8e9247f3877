import { verifyReceipt, type ExecutionReceipt } from "@agent/receipts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { owner } from "../../caller.ts";
import { createChat } from "../../model/chat.ts";
import { createModelCaller } from "../../model/model-caller.ts";
import { createTestGuard } from "../../testing/tools/test-guard.ts";
import { silentLog } from "../../log.ts";
import { createSystemRuntime } from "../../runtime.ts";
import { createFastRuntime } from "../../testing/agents/fast-runtime.ts";
import { createTestIdentity } from "../../testing/agents/test-identity.ts";
import {
  replyCutOff,
  replyDeltas,
  replyToolCalls,
  replyText,
  neverReply,
  startModelServer,
  replyStatus,
  type ModelServer,
  type Reply,
} from "../../testing/servers/model-server.ts";
import {
  failingTool,
  createHangingTool,
  shoutTool,
  createTextTool,
  throwingTool,
} from "../../testing/tools/test-tools.ts";
import { createToolCaller } from "../../tools/calling/call-tool.ts";
import { createRegistry, type RegisteredTool } from "../../tools/registry.ts";
import { createLlmExecutor } from "./llm.ts";
import { createTaskRunner } from "../run-task.ts";
import type { WorkTask } from "../task.ts";
import { buildTestOffer } from "../../testing/tools/test-offer.ts";

const identity = createTestIdentity();
const reverse = createTextTool("text.reverse", (words) => ({
  ok: true,
  data: words.split("").toReversed().join(""),
}));
const risky = createTextTool("risky", () => ({ ok: true, data: "done" }), 3);

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

interface Given {
  readonly tools?: RegisteredTool[];
  readonly task?: Partial<WorkTask>;
  readonly taskTimeoutMs?: number;
}

/** Runs a task with a model that gives these answers. */
async function run(replies: Reply[], { tools = [shoutTool], ...given }: Given = {}) {
  server.setReplies(...replies);
  // The test skips waits between attempts, but not time limits.
  const runtime =
    given.taskTimeoutMs === undefined ? createFastRuntime() : createSystemRuntime(silentLog);
  const registry = createRegistry(tools);
  const guard = createTestGuard();
  const exchange = createModelCaller({ baseUrl: server.baseUrl, model: "m1" }, runtime);
  const runTask = createTaskRunner({
    identity,
    deviceId: () => "device",
    tools: () => registry.definitions,
    offer: buildTestOffer(registry.definitions),
    callTool: createToolCaller({ registry, guard, runtime }),
    executor: createLlmExecutor(createChat(exchange)),
    delegateTask: undefined,
    taskTimeoutMs: given.taskTimeoutMs ?? 90_000,
    runtime,
  });
  const { receipt } = await runTask(
    {
      taskId: "t",
      prompt: "shout hi",
      requiredCapabilities: [],
      submittedAt: Date.now(),
      ...given.task,
    },
    { caller: owner },
  );
  const [last] = server.received.slice(-1);
  return { receipt, seen: server.received, lastMessage: last?.body.messages?.at(-1) };
}

const outcomeOf = ({ status: state, result, tools_used: used }: ExecutionReceipt) => ({
  state,
  result,
  used,
});

const call = (text: string, name = "shout") => replyToolCalls({ name, arguments: { text } });

describe("execution by a model", () => {
  test("execution by a model answers without tools when the model calls none", async () => {
    const { receipt, seen } = await run([replyText("Hello")]);
    expect(outcomeOf(receipt)).toEqual({ state: "completed", result: "Hello", used: [] });
    expect(seen[0]?.body.messages).toMatchObject([
      { role: "system" },
      { role: "user", content: "shout hi" },
    ]);
    expect(seen[0]?.body.tools).toEqual([
      {
        type: "function",
        function: {
          name: "shout",
          description: "Test tool shout",
          parameters: {
            type: "object",
            properties: { text: { type: "string" } },
            required: ["text"],
          },
        },
      },
    ]);
  });

  test("execution by a model returns tool results until the model has finished, and signs the tools used", async () => {
    const { receipt, seen, lastMessage } = await run([call("a"), call("b"), replyText("A and B")]);
    expect(outcomeOf(receipt)).toEqual({ state: "completed", result: "A and B", used: ["shout"] });
    expect(seen).toHaveLength(3);
    expect(lastMessage).toEqual({ role: "tool", tool_call_id: "id-0", content: "B" });
    expect(verifyReceipt(receipt, { publicKey: identity.publicKey }).valid).toBe(true);
  });

  test("execution by a model runs all tool calls of one turn in order", async () => {
    const both = replyToolCalls(
      { name: "shout", arguments: { text: "a" } },
      { name: "text_reverse", arguments: { text: "abc" } },
    );
    const { receipt, seen } = await run([both, replyText("done")], { tools: [shoutTool, reverse] });
    expect(receipt.tools_used).toEqual(["shout", "text.reverse"]);
    expect(seen[1]?.body.messages?.slice(-2)).toEqual([
      { role: "tool", tool_call_id: "id-0", content: "A" },
      { role: "tool", tool_call_id: "id-1", content: "cba" },
    ]);
  });

  test("execution by a model offers tools under distinct names that models accept", async () => {
    const names = ["a.b", "a_b", "a-b", "x".repeat(100), `${"x".repeat(99)}y`];
    const tools = names.map((name) => createTextTool(name, () => ({ ok: true, data: name })));
    const { seen, receipt } = await run(
      [replyToolCalls({ name: "a_b_2", arguments: { text: "" } }), replyText("done")],
      { tools },
    );
    const offered = seen[0]?.body.tools?.map((tool) => tool.function.name) ?? [];
    expect(offered).toEqual(["a_b", "a_b_2", "a-b", "x".repeat(64), `${"x".repeat(62)}_2`]);
    expect(receipt.tools_used).toEqual(["a_b"]);
  });

  test.each([
    [10, "completed"],
    [11, "failed"],
  ])(
    "execution by a model allows 10 tool calls: with %i calls the task is %s",
    async (calls, state) => {
      const { receipt } = await run([
        ...Array.from({ length: calls }, () => call("x")),
        replyText("done"),
      ]);
      expect(receipt.status).toBe(state);
    },
  );

  test("execution by a model runs none of 11 tool calls in one turn", async () => {
    const all = Array.from({ length: 11 }, () => ({ name: "shout", arguments: { text: "x" } }));
    const { receipt } = await run([replyToolCalls(...all), replyText("done")]);
    expect(outcomeOf(receipt)).toMatchObject({ state: "failed", used: [] });
  });

  test.each<[string, Reply, RegExp]>([
    ["gives no answer", replyDeltas([], "stop"), /no answer/],
    [
      "reaches its length limit",
      replyDeltas([{ content: "half of it" }], "length"),
      /did not finish/,
    ],
    ["is refused by its endpoint", replyStatus(401), /status 401/],
  ])("a task fails when its model %s", async (_, reply, reason) => {
    const { receipt } = await run([reply]);
    expect(receipt.status).toBe("failed");
    expect(receipt.result).toMatch(reason);
    expect(receipt.result).not.toContain("sk-123");
  });

  test.each<[string, Reply]>([
    ["a rate limit", replyStatus(429, { "retry-after": "1" })],
    ["a stream that was cut off", replyCutOff({ content: "wrong half" })],
    [
      "a stream that was cut off in a tool call",
      replyCutOff({
        tool_calls: [{ index: 0, id: "i", function: { name: "shout", arguments: '{"te' } }],
      }),
    ],
  ])(
    "execution by a model continues after %s without running any tool twice",
    async (_, failure) => {
      let runs = 0;
      const counted = createTextTool("shout", (text) => {
        runs += 1;
        return { ok: true, data: text };
      });
      const { receipt } = await run([failure, call("x"), failure, replyText("done")], {
        tools: [counted],
      });
      expect(outcomeOf(receipt)).toEqual({ state: "completed", result: "done", used: ["shout"] });
      expect(runs).toBe(1);
    },
  );
});

describe("a tool call that the model got wrong is explained to it", () => {
  test.each<[string, Parameters<typeof replyToolCalls>[0], RegExp]>([
    [
      "arguments that are malformed JSON",
      { name: "shout", arguments: '{"text": ' },
      /not a JSON object/,
    ],
    ["arguments that are not an object", { name: "shout", arguments: "[1]" }, /not a JSON object/],
    ["missing arguments", { name: "shout", arguments: "" }, /Invalid arguments/],
    [
      "arguments that violate the schema",
      { name: "shout", arguments: { text: 7 } },
      /Invalid arguments/,
    ],
    ["an invented tool", { name: "whisper", arguments: {} }, /no such tool/],
    ["a tool's own failure", { name: "failing", arguments: { text: "" } }, /no luck today/],
    [
      "a tool that throws",
      { name: "throwing", arguments: { text: "" } },
      /^Error: Tool "throwing" failed$/,
    ],
  ])("execution by a model explains %s to the model", async (_, request, reason) => {
    const { receipt, lastMessage, seen } = await run(
      [replyToolCalls(request), replyText("sorry")],
      {
        tools: [shoutTool, failingTool, throwingTool],
      },
    );
    expect(receipt).toMatchObject({ status: "completed", result: "sorry" });
    expect(lastMessage?.role).toBe("tool");
    expect(lastMessage?.content).toMatch(reason);
    // The malformed arguments return to the endpoint as valid JSON.
    const [sent] = (seen[1]?.body.messages?.at(-2)?.["tool_calls"] ?? []) as {
      function: { arguments: string };
    }[];
    expect(() => JSON.parse(sent?.function.arguments ?? "") as unknown).not.toThrow();
  });

  test("execution by a model answers a tool call without an id under a generated one", async () => {
    const { seen } = await run([
      replyToolCalls({ name: "shout", arguments: { text: "x" }, id: "" }),
      replyText("ok"),
    ]);
    expect(seen[1]?.body.messages?.slice(-2)).toMatchObject([
      { tool_calls: [{ id: "call_0" }] },
      { tool_call_id: "call_0", content: "X" },
    ]);
  });
});

describe("bounds", () => {
  test("a model is offered only the tools in the scope of the delegation", async () => {
    const { seen } = await run([replyText("x")], {
      tools: [shoutTool, failingTool],
      task: { scope: ["failing"] },
    });
    expect(seen[0]?.body.tools?.map((tool) => tool.function.name)).toEqual(["failing"]);
  });

  test.each<[string, string, Partial<WorkTask>, RegExp]>([
    ["outside the scope", "shout", { scope: ["failing"] }, /outside the scope/],
    ["that needs an approval", "risky", {}, /requires approval/],
  ])("a tool %s does not run, and the task is denied", async (_, name, task, reason) => {
    const { receipt, seen } = await run([call("x", name), replyText("done anyway")], {
      tools: [shoutTool, failingTool, risky],
      task,
    });
    expect(outcomeOf(receipt)).toMatchObject({ state: "denied", used: [] });
    expect(receipt.result).toMatch(reason);
    expect(seen).toHaveLength(1);
  });

  test("a model that never answers leads to a failed receipt and an aborted call", async () => {
    const aborted = Promise.withResolvers<void>();
    const { receipt } = await run([neverReply(aborted.resolve)], { taskTimeoutMs: 100 });
    expect(receipt).toMatchObject({ status: "failed" });
    expect(verifyReceipt(receipt, { publicKey: identity.publicKey }).valid).toBe(true);
    await aborted.promise;
  });

  test("a tool that never returns is aborted with the task, and the model is not called again", async () => {
    const aborted = Promise.withResolvers<void>();
    const { receipt, seen } = await run([call("x", "hanging"), replyText("late")], {
      tools: [createHangingTool(aborted.resolve)],
      taskTimeoutMs: 500,
    });
    await aborted.promise;
    expect(outcomeOf(receipt)).toMatchObject({ state: "failed", used: ["hanging"] });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(seen).toHaveLength(1);
  });
});
