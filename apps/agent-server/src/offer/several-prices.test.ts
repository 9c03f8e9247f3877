import { delegate } from "@agent/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningAgent } from "../start-agent.ts";
import { createTestIdentity } from "../testing/agents/test-identity.ts";
import { startTestRelay, type TestRelay } from "../testing/agents/test-relay.ts";
import { startJoinedAgent } from "../testing/agents/start-agent.ts";
import { createTextTool } from "../testing/tools/test-tools.ts";
import { compileTool } from "../tools/calling/compile-tool.ts";

const number = { type: "number" };
const sum = compileTool({
  definition: {
    name: "get-sum",
    description: "Returns the sum of two numbers",
    inputSchema: { type: "object", properties: { a: number, b: number }, required: ["a", "b"] },
    risk: 0,
  },
  handler: ({ a, b }) => ({ ok: true, data: String(Number(a) + Number(b)) }),
});
const echo = createTextTool("echo", (text) => ({ ok: true, data: text }));

const payer = createTestIdentity().agentId;
let relay: TestRelay;
let running: RunningAgent;
beforeAll(async () => {
  relay = await startTestRelay();
  await relay.operator.deposit({ params: { agentId: payer }, body: { amount: 1_000 } });
  const pricing = [
    { capability: "echo", unit_cost: 5 },
    { capability: "get-sum", unit_cost: 1 },
  ];
  const listing = { capabilities: ["echo", "get-sum"], pricing };
  running = await startJoinedAgent({ relayUrl: relay.url, tools: [echo, sum], file: { listing } });
});
afterAll(async () => {
  await running.stop();
  await relay.stop();
});

async function ask(prompt: string, requiredCapabilities: string[] = []) {
  const { agentId } = running.agent.identity;
  const done = await delegate(relay.operator, {
    agentId,
    prompt,
    requiredCapabilities,
    submittedBy: payer,
    timeoutMs: 10_000,
  });
  if (!done.ok) throw new Error(done.message);
  return done.receipt;
}

async function balance(): Promise<number> {
  const answer = await relay.operator.getBalance({ params: { agentId: payer } });
  if (!answer.ok) throw new Error(answer.message);
  return answer.body.balance;
}

describe("E2: an agent whose tools have several prices", () => {
  test("E2: a prompt that names no tool is denied with the accepted forms, and nothing is paid", async () => {
    const before = await balance();
    const receipt = await ask("add 20 and 22");
    expect(receipt).toMatchObject({ status: "denied", tools_used: [] });
    expect(receipt.result).toMatch(/`name key=value`.*the tools are: echo, get-sum/);
    expect(await balance()).toBe(before);
  });

  test.each([
    ["get-sum a=20 b=22", "42"],
    ['get-sum {"a": 20, "b": 22}', "42"],
    ['{"tool": "get-sum", "arguments": {"a": 20, "b": 22}}', "42"],
    ['echo text="add 20 and 22"', "add 20 and 22"],
  ])("E2: the tool that the prompt %j names is run", async (prompt, result) => {
    expect(await ask(prompt)).toMatchObject({ status: "completed", result });
  });

  test.each(["please use get-sum for 20 and 22", "echo hello", "get-summary a=1 b=2"])(
    "E2: the prompt %j does not count as a call",
    async (prompt) => {
      expect(await ask(prompt)).toMatchObject({ status: "denied", tools_used: [] });
    },
  );

  test("E2: a prompt is read freely when the task requires a capability", async () => {
    expect(await ask("add 20 and 22", ["get-sum"])).toMatchObject({ result: "42" });
  });

  test("E2: an expensive tool is not run for the price of a cheap one", async () => {
    const receipt = await ask('{"tool": "echo", "arguments": {"text": "hi"}}', ["get-sum"]);
    expect(receipt.tools_used).not.toContain("echo");
    expect(receipt.status).not.toBe("completed");
  });
});
