import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Identity } from "./identity/identity.ts";
import type { RunningAgent } from "./start-agent.ts";
import { startAgentProcess, type AgentProcess } from "./testing/agents/agent-process.ts";
import { createPaidAgent } from "./testing/agents/create-paid-agent.ts";
import { startJoinedAgent } from "./testing/agents/start-agent.ts";
import { createTestIdentity } from "./testing/agents/test-identity.ts";
import { startTestRelay, type TestRelay } from "./testing/agents/test-relay.ts";
import { createTextTool } from "./testing/tools/test-tools.ts";

/** Delegates twice, an equal request each time, and then waits until it is released. */
const tools = `
import { appendFileSync, existsSync, readFileSync } from "node:fs";
const target = JSON.parse(readFileSync("target.json", "utf8"));
export const tools = [{
  definition: { name: "manage", description: "", inputSchema: {
    type: "object", properties: { text: { type: "string" } } } },
  async handler({ text }, { delegate }) {
    const parts = [];
    for (let i = 0; i < 2; i++) parts.push(await delegate({ ...target, prompt: text }));
    appendFileSync("delegated", "x");
    while (!existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 10));
    return { ok: true, data: parts.map((part) => part.data ?? part.error).join() };
  },
}]`;

const SOON = { timeout: 40_000, interval: 50 };

let folder: string;
let relay: TestRelay;
let worker: RunningAgent;
let agents: AgentProcess[];
let shouted: string[];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "nested-crash-"));
  writeFileSync(join(folder, "tools.mjs"), tools);
  const pricing = [{ capability: "manage", unit_cost: 3, currency: "USD", per: "task" }];
  const listing = { capabilities: ["manage"], pricing };
  const settings = { tools: "tools.mjs", port: 0, syncIntervalMs: 200, listing };
  writeFileSync(join(folder, "agent.json"), JSON.stringify(settings));
  relay = await startTestRelay(0, { AGENT_PRIVATE_ENDPOINTS: "block" });
  agents = [];
  shouted = [];
  worker = await startWorker(createTestIdentity(), 1);
});
afterEach(async () => {
  await Promise.all(agents.map((agent) => agent.kill("SIGKILL")));
  await worker.stop();
  await relay.stop();
  rmSync(folder, { recursive: true });
});

function startWorker(identity: Identity, unit_cost: number): Promise<RunningAgent> {
  return startJoinedAgent({
    relayUrl: relay.url,
    identity,
    tools: [
      createTextTool("shout", (text) => {
        shouted.push(text);
        return { ok: true, data: text.toUpperCase() };
      }),
    ],
    file: { listing: { capabilities: ["shout"], pricing: [{ capability: "shout", unit_cost }] } },
  });
}

async function startManager(): Promise<AgentProcess> {
  const agent = startAgentProcess({
    args: ["--config", "agent.json"],
    cwd: folder,
    env: { AGENT_SYNC_URL: relay.url, AGENT_DATA_DIR: join(folder, "data") },
  });
  agents.push(agent);
  await agent.waitForOutput(/registered at/);
  return agent;
}

const writeTarget = (target: Record<string, string>) =>
  writeFileSync(join(folder, "target.json"), JSON.stringify(target));

const countAttempts = () =>
  existsSync(join(folder, "delegated")) ? readFileSync(join(folder, "delegated")).length : 0;

/** Kills the manager after it delegated both parts of a task, and returns the receipt of its second attempt. */
async function completeAfterKill(beforeRestart?: () => Promise<void>) {
  const first = await startManager();
  const identity = readFileSync(join(folder, "data", "identity.json"), "utf8");
  const { agent_id: agentId } = JSON.parse(identity) as { agent_id: string };
  await relay.operator.deposit({ params: { agentId }, body: { amount: 10 } });
  const payer = await createPaidAgent(relay, 10);
  const body = { prompt: "hello", submitted_by: payer.agentId };
  const submitted = await relay.operator.submitTask({ params: { agentId }, body });
  if (!submitted.ok) throw new Error(submitted.message);
  await expect.poll(countAttempts, SOON).toBe(1);
  await first.kill("SIGKILL");
  await beforeRestart?.();

  const second = await startManager();
  await expect.poll(countAttempts, SOON).toBe(2);
  writeFileSync(join(folder, "go"), "");
  const params = { agentId, taskId: submitted.body.task_id };
  const read = async () => {
    const answer = await relay.operator.getTask({ params, query: {} });
    return answer.ok ? answer.body.receipt : null;
  };
  await expect.poll(read, SOON).not.toBeNull();
  const receipt = await read();
  await second.kill("SIGTERM");
  const account = await relay.operator.getBalance({ params: { agentId } });
  return { receipt, account };
}

/** Both parts were done and paid once. */
function expectPartsOnce({ receipt, account }: Awaited<ReturnType<typeof completeAfterKill>>) {
  expect(receipt).toMatchObject({ status: "completed", result: "HELLO,HELLO" });
  expect(receipt?.["delegation_receipts"]).toHaveLength(2);
  expect(shouted).toEqual(["hello", "hello"]);
  expect(account).toMatchObject({ body: { balance: 10 - 2 + 2.85 } });
}

test("MN37: an agent killed after it delegated parts of a task pays for each part once, and nests both receipts", async () => {
  writeTarget({ capability: "shout" });
  expectPartsOnce(await completeAfterKill());
});

test("MN45: a part whose price rose between two attempts at its task is paid once, at the price of the first", async () => {
  const { identity } = worker.agent;
  writeTarget({ agent_id: identity.agentId });
  const done = await completeAfterKill(async () => {
    await worker.stop();
    worker = await startWorker(identity, 2);
  });
  expectPartsOnce(done);
});
