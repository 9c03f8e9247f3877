import { createRelayClient } from "@agent/client";
import { createReceipt } from "@agent/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { silentLog } from "../../log.ts";
import { createSystemRuntime } from "../../runtime.ts";
import { createPaidAgent } from "../../testing/agents/create-paid-agent.ts";
import { startTestRelay, type TestRelay } from "../../testing/agents/test-relay.ts";
import type { DelegatorContext } from "./delegator-answer.ts";
import { getTaskStatus } from "./get-task-status.ts";
import { inspectResult } from "./inspect-result.ts";

let relay: TestRelay;
beforeEach(async () => {
  relay = await startTestRelay();
});
afterEach(() => relay.stop());

/** Orders an inspected task, whose executor delivers a receipt with these changes. */
async function order(change: object) {
  const { operator } = relay;
  const [boss, worker] = [await createPaidAgent(relay, 10), await createPaidAgent(relay, 10)];
  const params = { agentId: worker.agentId };
  const listing = {
    capabilities: ["count"],
    pricing: [{ capability: "count", unit_cost: 1 }],
    acceptance: { window_ms: 60_000 },
  };
  expect(await operator.putListing({ params, body: listing })).toMatchObject({ ok: true });
  const body = { prompt: "count", submitted_by: boss.agentId, acceptance: {} };
  const submitted = await operator.submitTask({ params, body });
  if (!submitted.ok) throw new Error(submitted.code);
  const { task_id } = submitted.body;
  const task = { task_id, prompt: "count", submitted_at: Date.now() };
  const at = { agentId: worker.agentId, taskId: task_id };
  const receipt = createReceipt(worker, task, change);
  expect(await operator.postResult({ params: at, body: receipt })).toMatchObject({ ok: true });
  const context: DelegatorContext = {
    client: createRelayClient({ baseUrl: relay.url, identity: boss }),
    ownId: boss.agentId,
    secretKey: boss.secretKey,
    relayUrl: relay.url,
    timeoutMs: 10_000,
    runtime: createSystemRuntime(silentLog),
  };
  return { context, task_id };
}

const { signal } = new AbortController();
const rejection = { verdict: "rejected", reason: "Not counted." } as const;

test("IS32: an owner may reject a result whose receipt does not prove the work, and is told so", async () => {
  const { context, task_id } = await order({ result_hash: "0".repeat(64) });
  const code = "receipt.result_hash_mismatch";
  const status = await getTaskStatus(context, task_id, signal);
  expect(status).toMatchObject({ ok: false, code });
  expect(status).toHaveProperty(
    "message",
    expect.stringContaining("reject it with inspect_result"),
  );
  const accepted = await inspectResult(context, { task_id, verdict: "accepted" }, signal);
  expect(accepted).toMatchObject({ ok: false, code });
  const rejected = await inspectResult(context, { task_id, ...rejection }, signal);
  expect(rejected).toMatchObject({ ok: true, answer: { state: "rejected", due: 1 } });
});

test("an owner accepts a result whose receipt proves the work", async () => {
  const { context, task_id } = await order({});
  expect(await getTaskStatus(context, task_id, signal)).toMatchObject({
    ok: true,
    answer: { status: "completed", amount_charged: null },
  });
  const accepted = await inspectResult(context, { task_id, verdict: "accepted" }, signal);
  expect(accepted).toMatchObject({ ok: true, answer: { state: "closed", share: 1 } });
});
