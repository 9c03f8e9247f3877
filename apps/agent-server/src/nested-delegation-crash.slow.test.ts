import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RunningAgent } from "./start-agent.ts";
import { startAgentProcess, type AgentProcess } from "./testing/agents/agent-process.ts";
import { createPaidAgent } from "./testing/agents/create-paid-agent.ts";
import { startJoinedAgent } from "./testing/agents/start-agent.ts";
import { startTestRelay, type TestRelay } from "./testing/agents/test-relay.ts";
import { createTextTool } from "./testing/tools/test-tools.ts";

/** Delegates twice, an equal request each time, and then waits until it is released. */
const tools = `
import { appendFileSync, existsSync } from "node:fs";
export const tools = [{
  definition: { name: "manage", description: "", inputSchema: {
    type: "object", properties: { text: { type: "string" } } } },
  async handler({ text }, { delegate }) {
    const parts = [];
    for (let i = 0; i < 2; i++) parts.push(await delegate({ capability: "shout", prompt: text }));
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
  worker = await startJoinedAgent({
    relayUrl: relay.url,
    tools: [
      createTextTool("shout", (text) => {
        shouted.push(text);
        return { ok: true, data: text.toUpperCase() };
      }),
    ],
    file: {
      listing: { capabilities: ["shout"], pricing: [{ capability: "shout", unit_cost: 1 }] },
    },
  });
});
afterEach(async () => {
  await Promise.all(agents.map((agent) => agent.kill("SIGKILL")));
  await worker.stop();
  await relay.stop();
  rmSync(folder, { recursive: true });
});

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

const countAttempts = () =>
  existsSync(join(folder, "delegated")) ? readFileSync(join(folder, "delegated")).length : 0;

test("MN37: an agent killed after it delegated parts of a task pays for each part once, and nests both receipts", async () => {
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

  const second = await startManager();
  await expect.poll(countAttempts, SOON).toBe(2);
  writeFileSync(join(folder, "go"), "");
  const params = { agentId, taskId: submitted.body.task_id };
  const read = async () => {
    const answer = await relay.operator.getTask({ params, query: {} });
    return answer.ok ? answer.body.receipt : null;
  };
  await expect.poll(read, SOON).toMatchObject({ status: "completed", result: "HELLO,HELLO" });
  expect((await read())?.["delegation_receipts"]).toHaveLength(2);
  expect(shouted).toEqual(["hello", "hello"]);
  const account = await relay.operator.getBalance({ params: { agentId } });
  expect(account).toMatchObject({ body: { balance: 10 - 2 + 2.85 } });
  await second.kill("SIGTERM");
});
