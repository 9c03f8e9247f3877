import { sendVerdict } from "@agent/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Log } from "../../log.ts";
import type { RunningAgent } from "../../start-agent.ts";
import { startJoinedAgent } from "../../testing/agents/start-agent.ts";
import { createTestIdentity } from "../../testing/agents/test-identity.ts";
import { startTestRelay, type TestRelay } from "../../testing/agents/test-relay.ts";

let relay: TestRelay;
const running: RunningAgent[] = [];
beforeEach(async () => {
  relay = await startTestRelay();
});
afterEach(async () => {
  for (const agent of running.splice(0)) await agent.stop();
  await relay.stop();
});

const boss = createTestIdentity();
const worker = createTestIdentity();
const at = { agentId: worker.agentId };

const listing = {
  capabilities: ["shout"],
  pricing: [{ capability: "shout", unit_cost: 1 }],
  acceptance: { window_ms: 60_000 },
};

/** Starts the worker, and returns the tasks whose rejection it logs. */
async function startWorker() {
  const rejected: unknown[] = [];
  const log: Log = (_, event, fields) => {
    if (event === "inspection.rejected") rejected.push(fields?.["task_id"]);
  };
  const file = { listing, offer: { shout: ["shout"] } };
  const agent = await startJoinedAgent({ relayUrl: relay.url, identity: worker, file, log });
  running.push(agent);
  return { agent, rejected };
}

/** Orders inspected work, which the worker delivers. */
async function order() {
  const { agentId, publicKey: public_key } = boss;
  await relay.operator.bootstrap({ body: { agent_id: agentId, public_key } });
  await relay.operator.deposit({ params: { agentId }, body: { amount: 10 } });
  const body = {
    prompt: "hi",
    submitted_by: agentId,
    required_capabilities: ["shout"],
    acceptance: {},
  };
  const submitted = await relay.operator.submitTask({ params: at, body });
  if (!submitted.ok) throw new Error(`${submitted.code}: ${submitted.message}`);
  const taskId = submitted.body.task_id;
  const read = () => relay.operator.getInspection({ params: { ...at, taskId } });
  await vi.waitFor(async () => expect(await read()).toMatchObject({ ok: true }), {
    timeout: 10_000,
  });
  const inspection = await read();
  if (!inspection.ok) throw new Error(inspection.code);
  return { taskId, receiptHash: inspection.body.receipt_hash };
}

async function reject(task: { readonly taskId: string; readonly receiptHash: string }) {
  const statement = { verdict: "rejected", reason: "Not loud." } as const;
  const sent = await sendVerdict(relay.operator, { ...at, ...task, signer: boss, statement });
  expect(sent).toMatchObject({ ok: true });
}

test("IS33: a rejection that arrives while the executor is away is logged when it returns, once", async () => {
  const first = await startWorker();
  const task = await order();
  await first.agent.stop();
  running.splice(0);
  await reject(task);
  const second = await startWorker();
  await vi.waitFor(() => expect(second.rejected).toEqual([task.taskId]), { timeout: 10_000 });
  // The agent asks its relay every 100 ms.
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(second.rejected).toEqual([task.taskId]);
}, 30_000);

test("a rejection that the socket delivers is logged once", async () => {
  const { rejected } = await startWorker();
  const task = await order();
  await reject(task);
  await vi.waitFor(() => expect(rejected).toEqual([task.taskId]), { timeout: 10_000 });
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(rejected).toEqual([task.taskId]);
}, 30_000);
