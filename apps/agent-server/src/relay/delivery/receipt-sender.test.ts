import type { RelayClient } from "@agent/client";
import { limits, type ClientMessage } from "@agent/wire";
import { createManualClock } from "@agent/testkit";
import { describe, expect, test } from "vitest";
import { silentLog } from "../../log.ts";
import { createSystemRuntime } from "../../runtime.ts";
import { buildTestLedger, buildTestReceipt } from "../../testing/tools/test-receipt.ts";
import { createReceiptSender } from "./receipt-sender.ts";

function posting(options: { ready: boolean; joined?: boolean; missing?: string }) {
  const clock = createManualClock();
  const sent: ClientMessage[] = [];
  const overHttp: unknown[] = [];
  const client: Pick<RelayClient, "postResult"> = {
    postResult: async (request) => {
      overHttp.push(request.params);
      if (request.params.agentId === options.missing) {
        return { ok: false, code: "task.not_found", status: 404, message: "no such task" };
      }
      return { ok: true, status: 200, body: { status: "completed" } };
    },
  };
  const receipts = createReceiptSender({
    agentId: "self",
    send(message) {
      if (!options.ready) return { ok: false, code: "socket.not_ready" };
      sent.push(message);
      return { ok: true };
    },
    client: () => (options.joined === false ? undefined : (client as RelayClient)),
    runtime: { ...createSystemRuntime(silentLog), schedule: clock.schedule },
  });
  return { clock, overHttp, receipts, sent };
}

const receipt = buildTestReceipt("t");
const { signal } = new AbortController();

/** Creates a sender whose ledgers the relay stores; `given` are the options of each attempt. */
function createLedgerSender(now: () => number) {
  const given: unknown[] = [];
  const client: Pick<RelayClient, "storeLedger"> = {
    storeLedger: async ({ body: { goal_id, content_hash } }, options) => {
      given.push(options);
      return { ok: true, status: 201, body: { goal_id, content_hash, stored_at: now() } };
    },
  };
  const { postLedger } = createReceiptSender({
    agentId: "self",
    send: () => ({ ok: false, code: "socket.not_ready" }),
    client: () => client as RelayClient,
    runtime: { ...createSystemRuntime(silentLog), now },
  });
  return { given, postLedger };
}

test("E16: ledgers use at most a third of what the relay lets one address write", async () => {
  let now = 1_000_000;
  const { given, postLedger } = createLedgerSender(() => now);
  const postMany = async () => {
    for (let i = 0; i < 40; i++) await postLedger(buildTestLedger("t"), { signal });
    return postLedger(buildTestLedger("t"), { signal });
  };
  expect(await postMany()).toMatchObject({ ok: false, status: 429, retryAfterSeconds: 60 });
  expect(given).toHaveLength(limits.tiers.write / 3);
  now += limits.rateWindowMs;
  await postMany();
  expect(given).toHaveLength((limits.tiers.write / 3) * 2);
  // The clock jumps back for a day, and the agent must not wait for it.
  now -= 86_400_000;
  expect(await postLedger(buildTestLedger("t"), { signal })).toMatchObject({ ok: true });
});

test.each([
  ["without a due time", undefined, 5_000],
  ["long before its task is due", 60_000, 5_000],
  ["3 s before its task is due", 3_000, 1_500],
  ["after its task was due", -1, 5_000],
])(
  "E17: the receipt waits for a ledger %s only for a part of the remaining time",
  async (_, left, timeoutMs) => {
    const now = 1_000_000;
    const { given, postLedger } = createLedgerSender(() => now);
    const dueAt = left === undefined ? undefined : now + left;
    await postLedger(buildTestLedger("t"), { dueAt, signal });
    expect(given).toEqual([{ timeoutMs, signal }]);
  },
);

describe("a receipt goes", () => {
  test("a receipt goes over a ready socket, and the relay's answer is returned", async () => {
    const { overHttp, receipts, sent } = posting({ ready: true });
    const answer = receipts.post(receipt, "target");
    expect(sent).toEqual([{ type: "result", task_id: "t", receipt }]);
    receipts.onMessage({ type: "result_accepted", task_id: "other", status: "failed" });
    receipts.onMessage({ type: "result_accepted", task_id: "t", status: "completed" });
    expect(await answer).toEqual({ ok: true, status: "completed" });
    expect(overHttp).toEqual([]);
  });

  test("a receipt goes over HTTP at the target's path without a socket", async () => {
    const { overHttp, receipts } = posting({ ready: false });
    expect(await receipts.post(receipt, "target")).toEqual({ ok: true, status: "completed" });
    expect(overHttp).toEqual([{ agentId: "target", taskId: "t" }]);
  });

  test("a receipt without a known target goes to the agent's own path, then waits for the socket", async () => {
    const own = posting({ ready: false });
    expect(await own.receipts.post(receipt, undefined)).toMatchObject({ ok: true });
    expect(own.overHttp).toEqual([{ agentId: "self", taskId: "t" }]);
    const other = posting({ ready: false, missing: "self" });
    expect(await other.receipts.post(receipt, undefined)).toMatchObject({ ok: false, status: 0 });
    const named = posting({ ready: false, missing: "target" });
    expect(await named.receipts.post(receipt, "target")).toMatchObject({ ok: false, status: 404 });
  });

  test("a receipt goes over HTTP when the socket gives no answer", async () => {
    const { clock, overHttp, receipts } = posting({ ready: true });
    const answer = receipts.post(receipt, "target");
    await clock.advance(15_000);
    expect(await answer).toEqual({ ok: true, status: "completed" });
    expect(overHttp).toHaveLength(1);
  });

  test("a receipt goes over HTTP at once when the socket is lost before its answer", async () => {
    const { overHttp, receipts } = posting({ ready: true });
    const answer = receipts.post(receipt, "target");
    receipts.onDown();
    expect(await answer).toEqual({ ok: true, status: "completed" });
    expect(overHttp).toHaveLength(1);
  });

  test("a receipt is kept for a later attempt until the relay has been joined", async () => {
    const { receipts } = posting({ ready: false, joined: false });
    expect(await receipts.post(receipt, "target")).toMatchObject({ ok: false, status: 0 });
  });
});

test.each([
  ["receipt.signature_invalid", 403],
  ["task.not_found", 404],
  ["something.new", 500],
])("the socket's refusal %s has the status %i of HTTP", async (code, status) => {
  const { receipts } = posting({ ready: true });
  const answer = receipts.post(receipt, "target");
  receipts.onMessage({ type: "result_refused", task_id: "t", code, message: "no" });
  expect(await answer).toEqual({ ok: false, code, status, message: "no" });
});
