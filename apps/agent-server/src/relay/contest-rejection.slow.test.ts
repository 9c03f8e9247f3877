import { createRelayClient, sendVerdict } from "@agent/client";
import { hashReceipt } from "@agent/receipts";
import { createReceipt } from "@agent/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { silentLog } from "../log.ts";
import { createSystemRuntime } from "../runtime.ts";
import { createPaidAgent } from "../testing/agents/create-paid-agent.ts";
import { startTestRelay, type TestRelay } from "../testing/agents/test-relay.ts";
import { contestRejection } from "./contest-rejection.ts";

const CASES = 205;

let relay: TestRelay;
beforeEach(async () => {
  relay = await startTestRelay();
});
afterEach(() => relay.stop());

test("IS19: the oldest of more rejections than one page is contested", async () => {
  const { operator } = relay;
  const [boss, worker] = [await createPaidAgent(relay, 100), await createPaidAgent(relay, 1)];
  const params = { agentId: worker.agentId };
  const listing = {
    capabilities: ["count"],
    pricing: [{ capability: "count", unit_cost: 0.1 }],
    acceptance: { window_ms: 60_000 },
  };
  expect(await operator.putListing({ params, body: listing })).toMatchObject({ ok: true });
  // All are submitted before the first is rejected, because 20 rejections stop further inspections.
  const tasks = [];
  for (let count = 0; count < CASES; count += 1) {
    const body = { prompt: "count", submitted_by: boss.agentId, acceptance: {} };
    const submitted = await operator.submitTask({ params, body });
    if (!submitted.ok) throw new Error(submitted.code);
    const { task_id } = submitted.body;
    const input = { task_id, prompt: "count", submitted_at: Date.now() };
    const receipt = createReceipt(worker, input);
    const at = { agentId: worker.agentId, taskId: task_id };
    expect(await operator.postResult({ params: at, body: receipt })).toMatchObject({ ok: true });
    tasks.push({ at, receiptHash: hashReceipt(receipt) });
  }
  for (const { at, receiptHash } of tasks) {
    const statement = { verdict: "rejected", reason: "Not counted." } as const;
    const sent = await sendVerdict(operator, { ...at, receiptHash, signer: boss, statement });
    expect(sent).toMatchObject({ ok: true });
  }
  const contested = await contestRejection(
    {
      identity: worker,
      client: createRelayClient({ baseUrl: relay.url, identity: worker }),
      runtime: createSystemRuntime(silentLog),
    },
    { taskId: tasks[0]!.at.taskId, reason: "It is counted." },
  );
  expect(contested).toMatchObject({ ok: true, answer: { state: "disputed", bond: 0.01 } });
}, 60_000);
