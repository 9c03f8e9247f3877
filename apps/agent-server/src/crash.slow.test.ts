import { verifyReceipt } from "@agent/receipts";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startAgentProcess, type AgentProcess } from "./testing/agents/agent-process.ts";
import { startSocketlessProxy } from "./testing/agents/socketless-proxy.ts";
import { awaitReceipt } from "./testing/agents/await-receipt.ts";
import { createTestIdentity } from "./testing/agents/test-identity.ts";
import { startTestRelay, type TestRelay } from "./testing/agents/test-relay.ts";

/** Reports its start, and ends when it is released. */
const tools = `
import { appendFileSync, existsSync } from "node:fs";
export const tools = [{
  definition: { name: "work", description: "", inputSchema: {
    type: "object", properties: { text: { type: "string" } } } },
  async handler({ text }) {
    appendFileSync("begun", ".");
    while (!existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 10));
    return { ok: true, data: text.toUpperCase() };
  },
}]`;

let folder: string;
let relay: TestRelay;
let agent: AgentProcess;
/** The task's state at the agent. */
let relayUrl: string;
let closeProxy = async () => {};
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "agent-crash-"));
  writeFileSync(join(folder, "tools.mjs"), tools);
  writeFileSync(
    join(folder, "agent.json"),
    JSON.stringify({
      tools: "tools.mjs",
      port: 0,
      syncIntervalMs: 200,
      ledgers: true,
      listing: { capabilities: ["work"], pricing: [{ capability: "work", unit_cost: 2 }] },
    }),
  );
  await openRelay(0);
});
afterEach(async () => {
  await agent.kill("SIGKILL");
  await closeProxy();
  await relay.stop();
  rmSync(folder, { recursive: true });
});

async function openRelay(port: number): Promise<void> {
  relay = await startTestRelay(port, { AGENT_DB_PATH: join(folder, "relay.db") });
}

/** Tasks arrive over MCP through this proxy, which sends answers on after `delayAnswer`. */
async function openProxy(
  delayAnswer?: (path: string) => Promise<void> | undefined,
): Promise<string> {
  const proxy = await startSocketlessProxy(() => relay.url, undefined, delayAnswer);
  closeProxy = proxy.close;
  return proxy.url;
}

async function startAgent(env: Readonly<Record<string, string>> = {}): Promise<void> {
  agent = startAgentProcess({
    args: ["--config", "agent.json"],
    cwd: folder,
    env: { AGENT_SYNC_URL: relayUrl, AGENT_DATA_DIR: join(folder, "data"), ...env },
  });
  await agent.waitForOutput(/registered at/);
}

const begun = () =>
  existsSync(join(folder, "begun")) ? readFileSync(join(folder, "begun"), "utf8").length : 0;

function listStored(): string[] {
  const outbox = join(folder, "data", "outbox");
  return existsSync(outbox) ? readdirSync(outbox).filter((name) => name.endsWith(".json")) : [];
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}

interface Job {
  readonly agentId: string;
  readonly publicKey: string;
  readonly payerId: string;
  readonly taskId: string;
}

/** Lets each write to the outbox wait like one to a slow disk, for as long as the process lives. */
const slowOutbox = `
import { promises } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
const { open } = promises;
promises.open = (path, ...rest) =>
  String(path).includes("/outbox/") ? new Promise(() => {}) : open(path, ...rest);
syncBuiltinESMExports();`;

/** Submits a paid task and waits until the agent has begun it. */
async function begin(env?: Readonly<Record<string, string>>): Promise<Job> {
  await startAgent(env);
  const found = await relay.operator.discover({ query: { capability: "work" } });
  const listed = found.ok ? found.body.agents[0] : undefined;
  if (listed?.public_key == null) throw new Error("the agent is not registered");
  const { agent_id: agentId, public_key: publicKey } = listed;
  const { agentId: payerId } = createTestIdentity();
  await relay.operator.deposit({ params: { agentId: payerId }, body: { amount: 10 } });
  const body = { prompt: "hello", submitted_by: payerId };
  const submitted = await relay.operator.submitTask({ params: { agentId }, body });
  if (!submitted.ok) throw new Error(submitted.message);
  await until(() => begun() === 1);
  return { agentId, publicKey, payerId, taskId: submitted.body.task_id };
}

async function expectPaidOnce({ agentId, publicKey, payerId, taskId }: Job): Promise<void> {
  const { receipt } = await awaitReceipt(relay.operator, { agentId, taskId });
  expect(receipt).toMatchObject({ status: "completed", result: "HELLO" });
  expect(verifyReceipt(receipt, { publicKey, taskId }).valid).toBe(true);
  await until(() => listStored().length === 0);

  const params = { agentId };
  const settled = await relay.operator.listSettlements({ params, query: {} });
  expect(settled.ok && settled.body.settlements.map((one) => one.task_id)).toEqual([taskId]);
  const balances = [payerId, agentId].map(async (of) => {
    const account = await relay.operator.getBalance({ params: { agentId: of } });
    return account.ok && account.body.balance;
  });
  expect(await Promise.all(balances)).toEqual([8, 1.9]);
}

test.each([
  ["its socket", async () => relay.url],
  ["MCP", () => openProxy()],
])(
  "an agent killed after a task over %s but before its delivery delivers the receipt once after a restart",
  async (_, urlOf) => {
    relayUrl = await urlOf();
    const job = await begin();
    const { port } = relay;
    await relay.stop();
    writeFileSync(join(folder, "go"), "");
    await until(() => listStored().length === 1);
    await agent.kill("SIGKILL");

    await openRelay(port);
    await startAgent();
    await expectPaidOnce(job);
    expect(begun()).toBe(1);
    expect(agent.log().match(/receipt\.delivered/g)).toHaveLength(1);
  },
);

/** Opens a proxy that keeps the answers to ledgers until it is told to send them on. */
async function holdLedgerAnswers(): Promise<{ stored: () => number; release: () => void }> {
  const { promise, resolve: release } = Promise.withResolvers<void>();
  let stored = 0;
  relayUrl = await openProxy((path) => {
    if (!path.endsWith("/ledger")) return undefined;
    stored += 1;
    return promise;
  });
  return { stored: () => stored, release };
}

/** Expects that the settlement names the ledger that the relay has, and that no other was posted. */
async function expectLedgerNamed({ agentId, taskId }: Job): Promise<void> {
  const ledger = await relay.operator.getLedger({ params: { agentId, goalId: taskId } });
  const settled = await relay.operator.listSettlements({ params: { agentId }, query: {} });
  if (!ledger.ok || !settled.ok) throw new Error("the relay has no ledger or no settlement");
  const { content_hash, signature } = ledger.body;
  expect(signature).toBeDefined();
  expect(settled.body.settlements).toMatchObject([{ ledger_hash: content_hash }]);
  expect(agent.log()).toContain("ledger.delivered");
  expect(agent.log()).not.toContain("ledger.refused");
}

test("an agent killed between the ledger of a task and its receipt sends both again after a restart", async () => {
  const ledgers = await holdLedgerAnswers();
  const job = await begin();
  writeFileSync(join(folder, "go"), "");
  await until(() => ledgers.stored() === 1);
  await agent.kill("SIGKILL");
  ledgers.release();

  await startAgent();
  await expectPaidOnce(job);
  await expectLedgerNamed(job);
  expect(begun()).toBe(1);
});

test("an agent killed before the disk keeps its work does it again, and its ledger is the first one", async () => {
  const ledgers = await holdLedgerAnswers();
  const preload = `data:text/javascript,${encodeURIComponent(slowOutbox)}`;
  const job = await begin({ NODE_OPTIONS: `--import=${preload}` });
  writeFileSync(join(folder, "go"), "");
  const signed = join(folder, "data", "signed.log");
  await until(() => existsSync(signed) && readFileSync(signed, "utf8").endsWith("\n"));
  // A ledger that did not wait for the disk would have arrived by then.
  await new Promise((resolve) => setTimeout(resolve, 500));
  await agent.kill("SIGKILL");
  ledgers.release();

  await startAgent();
  await expectPaidOnce(job);
  await expectLedgerNamed(job);
  expect(begun()).toBe(2);
});
