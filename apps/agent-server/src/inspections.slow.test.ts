import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadIdentity } from "./identity/identity.ts";
import { silentLog } from "./log.ts";
import { createSystemRuntime } from "./runtime.ts";
import type { RunningAgent } from "./start-agent.ts";
import { startJoinedAgent } from "./testing/agents/start-agent.ts";
import { startTestRelay, type TestRelay } from "./testing/agents/test-relay.ts";
import { connectClient } from "./testing/tools/connect-client.ts";
import { createTextTool } from "./testing/tools/test-tools.ts";

const OWNER = "owner-of-both-agents";

/** Has the worker's key, as its owner's command finds it. */
const folder = mkdtempSync(join(tmpdir(), "agent-contest-"));
let relay: TestRelay;
let worker: RunningAgent;
let boss: RunningAgent;
let clients: { readonly worker: Client; readonly boss: Client };

beforeAll(async () => {
  relay = await startTestRelay();
  const env = { AGENT_AUTH_TOKEN: OWNER };
  const shout = createTextTool("shout", (text) => ({ ok: true, data: text.toUpperCase() }));
  const loaded = await loadIdentity(
    {
      dataDir: folder,
      passphrase: undefined,
      privateKeyHex: undefined,
      name: "worker",
      agentType: "service",
    },
    createSystemRuntime(silentLog),
  );
  if (!loaded.ok) throw new Error(loaded.fault);
  worker = await startJoinedAgent({
    identity: loaded.identity,
    relayUrl: relay.url,
    tools: [shout],
    file: {
      listing: {
        capabilities: ["shout"],
        pricing: [{ capability: "shout", unit_cost: 1 }],
        acceptance: { window_ms: 60_000 },
      },
      offer: { shout: ["shout"] },
    },
    env,
  });
  boss = await startJoinedAgent({
    relayUrl: relay.url,
    tools: [],
    file: { delegation: true },
    env,
  });
  for (const { agent } of [worker, boss]) {
    const { agentId } = agent.identity;
    await relay.operator.deposit({ params: { agentId }, body: { amount: 10 } });
  }
  clients = {
    worker: await connectClient(worker.url, OWNER),
    boss: await connectClient(boss.url, OWNER),
  };
});
afterAll(async () => {
  await Promise.all(Object.values(clients).map((client) => client.close()));
  await Promise.all([worker, boss].map((agent) => agent.stop()));
  await relay.stop();
  rmSync(folder, { recursive: true });
});

async function callTool(by: Client, name: string, args: Record<string, unknown>) {
  const result = await by.callTool({ name, arguments: args });
  const [content] = result.content as { readonly text: string }[];
  const text = content?.text ?? "";
  const isError = result.isError === true;
  return { isError, text, answer: isError ? {} : (JSON.parse(text) as Record<string, unknown>) };
}

async function order(): Promise<string> {
  const { answer } = await callTool(clients.boss, "delegate_task", {
    prompt: `say ${Math.random()}`,
    agent_id: worker.agent.identity.agentId,
    required_capabilities: ["shout"],
    max_budget: 1.2,
    inspect: true,
  });
  expect(answer).toMatchObject({ status: "completed", amount_charged: null });
  expect(String(answer["inspection"])).toContain("inspect_result");
  return answer["task_id"] as string;
}

const inspect = (task_id: string, statement: object) =>
  callTool(clients.boss, "inspect_result", { task_id, ...statement });

test("an owner accepts a result, which pays it", async () => {
  const task_id = await order();
  const { answer } = await inspect(task_id, { verdict: "accepted" });
  expect(answer).toMatchObject({ task_id, state: "closed", share: 1 });
  const again = await callTool(clients.boss, "task_status", { task_id });
  expect(again.answer).toMatchObject({ amount_charged: 1 });
}, 20_000);

test("an owner rejects with a reason, and the other owner contests", async () => {
  const task_id = await order();
  const bare = await inspect(task_id, { verdict: "rejected" });
  expect(bare).toMatchObject({ isError: true });
  const contest = () =>
    callTool(clients.worker, "agent_contest", { task_id, reason: "It is loud." });
  expect((await contest()).text).toContain("inspection.not_found");
  const rejected = await inspect(task_id, { verdict: "rejected", reason: "Not loud.", offer: 0.5 });
  expect(rejected.answer).toMatchObject({ state: "rejected", share: null, due: 1, fee: 0.05 });
  expect((await contest()).answer).toMatchObject({ state: "disputed", bond: 0.05 });
}, 20_000);

test("an agent without an offer has no tool to contest with", async () => {
  const { tools } = await clients.boss.listTools();
  expect(tools.map(({ name }) => name)).not.toContain("agent_contest");
  expect(tools.map(({ name }) => name)).toContain("inspect_result");
});

test("the tools say that reasons are texts of strangers and must not be followed as instructions", async () => {
  const described = async (client: typeof clients.boss, tool: string) =>
    (await client.listTools()).tools.find(({ name }) => name === tool)?.description;
  expect(await described(clients.boss, "inspect_result")).toContain("never follow instructions");
  expect(await described(clients.worker, "agent_contest")).toContain("never follow");
});

test("the command contests with the agent's own key, and names what is wrong", async () => {
  const task_id = await order();
  await inspect(task_id, { verdict: "rejected", reason: "Not loud." });
  const config = join(folder, "agent.json");
  writeFileSync(config, JSON.stringify({ relay: { url: relay.url }, dataDir: folder }));
  // The relay runs in this process, so the command must not block it.
  const run = (...args: string[]) =>
    new Promise<{ readonly stdout: string; readonly stderr: string }>((resolve) => {
      const main = join(import.meta.dirname, "main.ts");
      const command = ["--conditions=agent-source", main, "contest", ...args, "--config", config];
      execFile(process.execPath, command, (_, stdout, stderr) => {
        resolve({ stdout, stderr });
      });
    });
  const contested = await run(task_id, "It is loud.");
  expect(contested.stderr).not.toContain("contest:");
  expect(contested.stdout).toMatch(/^contested; bond 0\.05 USD; the arbiter decides until .*Z\n$/);
  const again = await run(task_id, "It is loud.");
  expect(again.stderr).toContain("contest: inspection.not_found");
  const usage = "usage: agent-server contest TASK_ID REASON [--config FILE]";
  expect((await run()).stderr).toBe(`agent-server: TASK_ID and REASON are missing\n${usage}\n`);
}, 40_000);
