import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { RunningAgent } from "./start-agent.ts";
import { startAgentProcess, type AgentProcess } from "./testing/agents/agent-process.ts";
import { startJoinedAgent } from "./testing/agents/start-agent.ts";
import { startTestRelay, type TestRelay } from "./testing/agents/test-relay.ts";
import { startLyingRelay, type LyingRelay } from "./testing/servers/lying-relay.ts";
import { connectClient } from "./testing/tools/connect-client.ts";
import { createTextTool } from "./testing/tools/test-tools.ts";

const TOKEN = "owner-of-the-delegator";
const patient = { timeout: 30_000 };

let relay: TestRelay;
/** Between the delegator and the relay. */
let between: LyingRelay;
let worker: RunningAgent;
let runs: string[] = [];
let proceed = Promise.withResolvers<void>();
let folder: string;
let agent: AgentProcess;

const shout = createTextTool("shout", async (text) => {
  runs.push(text);
  await proceed.promise;
  return { ok: true, data: text.toUpperCase() };
});

beforeAll(async () => {
  relay = await startTestRelay();
  between = await startLyingRelay(relay.url);
  worker = await startJoinedAgent({
    relayUrl: relay.url,
    tools: [shout],
    file: {
      listing: { capabilities: ["shout"], pricing: [{ capability: "shout", unit_cost: 1 }] },
    },
  });
});
afterAll(async () => {
  await worker.stop();
  await between.stop();
  await relay.stop();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "delegation-crash-"));
  runs = [];
  proceed = Promise.withResolvers<void>();
});
afterEach(async () => {
  proceed.resolve();
  between.hold = undefined;
  await agent.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

/** Starts the delegator on the same folder as before, and connects the official client. */
async function startDelegator(): Promise<Client> {
  agent = startAgentProcess({
    args: [],
    cwd: folder,
    env: {
      AGENT_SYNC_URL: between.url,
      AGENT_DATA_DIR: join(folder, "data"),
      AGENT_DELEGATION: "true",
      AGENT_AUTH_TOKEN: TOKEN,
      AGENT_PORT: "0",
    },
  });
  await agent.waitForOutput(/registered at/);
  const [, url = ""] = /listening on (\S+)/.exec(agent.output()) ?? [];
  return connectClient(url, TOKEN);
}

async function callTool(client: Client, name: string, args: Record<string, unknown> = {}) {
  const { content, isError } = await client.callTool({ name, arguments: args });
  const [block] = content;
  const text = block?.type === "text" ? block.text : "";
  if (isError === true) throw new Error(text);
  return JSON.parse(text) as Record<string, unknown>;
}

/** Opens a delegator with 10 USD. */
async function openAccount(): Promise<Client> {
  const client = await startDelegator();
  const { agent_id: agentId } = await callTool(client, "balance");
  const deposit = { params: { agentId: String(agentId) }, body: { amount: 10 } };
  const answer = await relay.operator.deposit(deposit);
  if (!answer.ok) throw new Error(answer.message);
  return client;
}

const order = { prompt: "hello", required_capabilities: ["shout"], max_budget: 1 };
const isSubmission = (request: string) => /^POST \/agent\/[^/]+\/task$/.test(request);

function listOrders(): string[] {
  const orders = join(folder, "data", "orders");
  return existsSync(orders) ? readdirSync(orders).filter((name) => name.endsWith(".json")) : [];
}

/** Repeats the order after a restart, and expects that one task was done and paid. */
async function expectOneTask(): Promise<Record<string, unknown>> {
  between.hold = undefined;
  proceed.resolve();
  const client = await startDelegator();
  const done = await callTool(client, "delegate_task", order);
  expect(done).toMatchObject({ status: "completed", result: "HELLO", amount_charged: 1 });
  expect((await callTool(client, "balance"))["balance"]).toBe(9);
  expect(runs).toEqual(["hello"]);
  await client.close();
  return done;
}

test.each<[string, "before" | "after"]>([
  ["before the relay has it", "before"],
  ["after the relay has it and before its answer arrived", "after"],
])(
  "E6: an order whose agent server is killed %s is done and paid once",
  patient,
  async (_, held) => {
    const client = await openAccount();
    const reached = Promise.withResolvers<void>();
    between.hold = async (request, moment) => {
      if (!isSubmission(request) || moment !== held) return;
      reached.resolve();
      await new Promise<void>(() => {});
    };
    const lost = callTool(client, "delegate_task", order).catch(() => undefined);
    await reached.promise;
    expect(listOrders()).toHaveLength(1);
    await agent.kill("SIGKILL");
    await client.close();
    await lost;
    await expectOneTask();
  },
);

test(
  "E6: an order whose agent server is killed while the work runs is done and paid once",
  patient,
  async () => {
    const client = await openAccount();
    const lost = callTool(client, "delegate_task", order).catch(() => undefined);
    await expect.poll(() => runs, patient).toEqual(["hello"]);
    await agent.kill("SIGKILL");
    await client.close();
    await lost;
    await expectOneTask();
  },
);

test(
  "E6: an order whose answer may have been lost with the agent server is paid once",
  patient,
  async () => {
    const client = await openAccount();
    proceed.resolve();
    const first = await callTool(client, "delegate_task", order);
    await agent.kill("SIGKILL");
    await client.close();
    expect((await expectOneTask())["task_id"]).toBe(first["task_id"]);
  },
);

test("an order that cannot be stored is refused and not submitted", patient, async () => {
  const opened = await openAccount();
  await opened.close();
  await agent.kill("SIGKILL");
  writeFileSync(join(folder, "data", "orders"), "a file where the folder should be");
  const client = await startDelegator();
  expect(agent.log()).toContain("orders.unreadable");
  await expect(callTool(client, "delegate_task", order)).rejects.toThrow("delegation.not_stored");
  expect((await callTool(client, "balance"))["balance"]).toBe(10);
  expect(runs).toEqual([]);
  await client.close();
});

test("a stored order that cannot be read does not stop the start", patient, async () => {
  const opened = await openAccount();
  await opened.close();
  await agent.kill("SIGKILL");
  mkdirSync(join(folder, "data", "orders"));
  writeFileSync(join(folder, "data", "orders", "half.json"), '{"order":');
  proceed.resolve();
  const client = await startDelegator();
  expect(agent.log()).toContain("orders.file_unreadable");
  expect(await callTool(client, "delegate_task", order)).toMatchObject({ status: "completed" });
  await client.close();
});

test("no stored order remains after an order was refused", patient, async () => {
  const client = await startDelegator();
  await expect(callTool(client, "delegate_task", order)).rejects.toThrow("budget.insufficient");
  expect(listOrders()).toEqual([]);
  await client.close();
});
