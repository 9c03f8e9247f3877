import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestAgent } from "@agent/testkit";
import { limits } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { waitForFailedSettlement } from "../../../test/contract/operator/federation-admin.ts";
import { federated, forwardTaskToPeer } from "../../../test/contract/operator/federation.ts";
import {
  createBuyer,
  submitAcceptedTask,
  expectConsistentBooks,
  createSeller,
} from "../../../test/market.ts";
import {
  OPERATOR_TOKEN,
  createReceipt,
  startTestRelay,
  type Reply,
  type TestRelay,
} from "../../../test/test-relay.ts";

let t: TestRelay;
let boss: TestAgent;
let worker: TestAgent;
beforeEach(async () => {
  t = await startTestRelay();
  [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
});
afterEach(() => t.close());

/** A POST with a key, as an agent or as the operator. */
async function keyed(
  path: string,
  body: unknown,
  { key = "k-1", by, relay = t }: { key?: string; by?: TestAgent; relay?: TestRelay } = {},
): Promise<Reply> {
  const token = by === undefined ? OPERATOR_TOKEN : await relay.token(by);
  return relay.request("POST", path, { token, body, headers: { "idempotency-key": key } });
}

const taskOf = (agent = worker) => `/agent/${agent.agentId}/task`;
const depositTo = (agent = boss) => `/api/v1/agents/${agent.agentId}/deposit`;
const answerOf = ({ status, body }: Reply) => ({ status, body });

async function submitted(by = boss): Promise<number> {
  const path = `/agent/${by.agentId}/tasks?submitted_by=me`;
  return ((await t.as(by, "GET", path)).body["tasks"] as unknown[]).length;
}

describe("a repeated request with the same key gets the first response and takes effect once:", () => {
  test("a submission is made once", async () => {
    const work = { prompt: "work" };
    const first = await keyed(taskOf(), work, { by: boss });
    const again = await keyed(taskOf(), work, { by: boss });
    expect(first.status).toBe(201);
    expect(answerOf(again)).toEqual(answerOf(first));
    expect(await submitted()).toBe(1);
    expect(await t.getBalance(boss)).toBe(7.6);
  });

  test("a deposit without a reference is made once", async () => {
    const first = await keyed(depositTo(), { amount: 5 });
    expect(first.body).toMatchObject({ balance: 15, idempotent: false });
    expect(answerOf(await keyed(depositTo(), { amount: 5 }))).toEqual(answerOf(first));
    await expectConsistentBooks(t, { deposits: 15 });
  });

  test("a cancellation is made once", async () => {
    const { path } = await submitAcceptedTask(t, boss, worker);
    const first = await keyed(`${path}/cancel`, undefined, { by: boss });
    expect(first.status).toBe(200);
    const again = await keyed(`${path}/cancel`, undefined, { by: boss });
    expect(answerOf(again)).toEqual(answerOf(first));
    expect(await t.getBalance(boss)).toBe(10);
  });

  test("a result is accepted once", async () => {
    const task = await submitAcceptedTask(t, boss, worker);
    const receipt = createReceipt(worker, task);
    const first = await keyed(`${task.path}/result`, receipt, { by: worker });
    expect(answerOf(first)).toEqual({ status: 200, body: { status: "completed" } });
    const again = await keyed(`${task.path}/result`, receipt, { by: worker });
    expect(answerOf(again)).toEqual(answerOf(first));
    expect(await t.getBalance(worker)).toBe(1.9);
  });

  test("an external payment of a peer, and an abandoned settlement, are recorded once", async () => {
    const relay = await startTestRelay({ ...federated, AGENT_FEDERATION_RETRY_SCALE: "0.001" });
    const admin = "/api/v1/admin/federation";
    const { peer, boss: payer, listening, receipt } = await forwardTaskToPeer(relay);
    const payment = { amount: 1, direction: "received", reference: "wire 1" };
    const settle = () => keyed(`${admin}/peers/${peer.relayId}/settle`, payment, { relay });
    const settled = await settle();
    expect(settled).toMatchObject({ status: 200, body: { idempotent: false } });
    expect(answerOf(await settle())).toEqual(answerOf(settled));

    await peer.post("/federation/v1/task/result", peer.createResult(receipt));
    const path = `${admin}/outbox/${await waitForFailedSettlement(relay)}/give-up`;
    const giveUp = () => keyed(path, { reason: "lost" }, { key: "k-2", relay });
    const given = await giveUp();
    expect(given).toMatchObject({ status: 200, body: { refunded: true } });
    expect(answerOf(await giveUp())).toEqual(answerOf(given));
    expect(await relay.getBalance(payer)).toBe(10);
    await listening.close();
    await relay.close();
  });

  test("the relay repeats a response also after a restart", async () => {
    const folder = mkdtempSync(join(tmpdir(), "relay-keys-"));
    const env = { AGENT_DB_PATH: join(folder, "relay.db") };
    const before = await startTestRelay(env);
    const first = await keyed(depositTo(), { amount: 5 }, { relay: before });
    await before.close();
    const after = await startTestRelay(env, 2);
    const again = await keyed(depositTo(), { amount: 5 }, { relay: after });
    expect(answerOf(again)).toEqual(answerOf(first));
    expect(await after.getBalance(boss)).toBe(5);
    await after.close();
    rmSync(folder, { recursive: true });
  });
});

test("only one of ten simultaneous requests creates a task, and the others may be retried", async () => {
  const send = () => keyed(taskOf(), { prompt: "work" }, { by: boss });
  const replies = await Promise.all(Array.from({ length: 10 }, send));
  const { body } = await send();
  expect(await submitted()).toBe(1);
  const early = replies.filter(({ status }) => status !== 201);
  expect(early.every((reply) => reply.body["code"] === "idempotency.key_in_use")).toBe(true);
  const others = replies.filter(({ status }) => status === 201).map((reply) => reply.body);
  expect(others).toEqual(others.map(() => body));
  expect(others).not.toEqual([]);
});

describe("a used key is refused", () => {
  const reused = { status: 422, body: { code: "idempotency.key_reused" } };

  test("the relay refuses a used key with another body", async () => {
    await keyed(depositTo(), { amount: 5 });
    expect(await keyed(depositTo(), { amount: 6 })).toMatchObject(reused);
    expect(await t.getBalance(boss)).toBe(15);
  });

  test("the relay refuses a used key for another agent's path", async () => {
    await keyed(taskOf(), { prompt: "work" }, { by: boss });
    const other = await createSeller(t, 1);
    expect(await keyed(taskOf(other), { prompt: "work" }, { by: boss })).toMatchObject(reused);
    expect(await submitted()).toBe(1);
  });
});

describe("a key is free", () => {
  test("the key of a refused attempt is free again, also for another body", async () => {
    const dear = await createSeller(t, 100);
    const broke = await keyed(taskOf(dear), { prompt: "work" }, { by: boss });
    expect(broke).toMatchObject({ status: 402 });
    await t.deposit(boss, 1_000);
    const later = await keyed(taskOf(dear), { prompt: "other work" }, { by: boss });
    expect(later).toMatchObject({ status: 201 });
  });

  test("the relay accepts the same key for another caller, operation or agent of the operator", async () => {
    const other = await createBuyer(t, 10);
    const replies = [
      await keyed(taskOf(), { prompt: "work" }, { by: boss }),
      await keyed(taskOf(), { prompt: "work" }, { by: other }),
      await keyed(taskOf(), { prompt: "work", submitted_by: boss.agentId }),
      await keyed(taskOf(), { prompt: "work", submitted_by: other.agentId }),
      await keyed(depositTo(boss), { amount: 1 }),
      await keyed(depositTo(other), { amount: 1 }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201, 200, 200]);
    expect([await submitted(boss), await submitted(other)]).toEqual([2, 2]);
  });

  test("the relay accepts a key again a day later, when it was purged", async () => {
    await keyed(depositTo(), { amount: 5 });
    await t.clock.advance(limits.idempotencyKeyMs - 1);
    await keyed(depositTo(), { amount: 5 });
    expect(await t.getBalance(boss)).toBe(15);
    await t.clock.advance(1);
    expect(await keyed(depositTo(), { amount: 7 })).toMatchObject({ status: 200 });
    expect(await t.getBalance(boss)).toBe(22);
    await t.clock.advance(limits.idempotencyKeyMs);
    await t.relay.tick();
    await keyed(depositTo(), { amount: 5 });
    expect(await t.getBalance(boss)).toBe(27);
  });
});

test.each(["", "two words", "k\u00e9y", "x".repeat(256)])("the key %j is refused", async (key) => {
  const reply = await keyed(depositTo(), { amount: 5 }, { key });
  expect(reply).toMatchObject({ status: 400, body: { code: "idempotency.key_invalid" } });
  expect(await t.getBalance(boss)).toBe(10);
});

test("every request without a key counts as a new one", async () => {
  await t.deposit(boss, 5);
  await t.deposit(boss, 5);
  expect(await t.getBalance(boss)).toBe(20);
});
