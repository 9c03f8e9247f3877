import type { ExecutionReceipt } from "@agent/receipts";
import { createReceipt, type TestAgent } from "@agent/testkit";
import { verifyArtifact } from "@agent/verify";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  createLedger,
  ledgerPath,
  storeLedger,
  createTimeline,
} from "../../test/agents/ledgers.ts";
import {
  createBuyer,
  submitAcceptedTask,
  expectConsistentBooks,
  createSeller,
  type Delegation,
} from "../../test/market.ts";
import { createPairedDevice } from "../../test/agents/pairing.ts";
import { rotationRoutes, createRotation } from "../../test/agents/rotation.ts";
import { OPERATOR_TOKEN, startTestRelay, type TestRelay } from "../../test/test-relay.ts";

const MINUTE_MS = 60_000;

let t: TestRelay;
let boss: TestAgent;
let worker: TestAgent;
beforeEach(async () => {
  t = await startTestRelay();
  [boss, worker] = [await createBuyer(t, 20), await createSeller(t, 2)];
});
afterEach(() => t.close());

async function rotate(agent: TestAgent): Promise<TestAgent> {
  const rotation = createRotation(t, agent);
  expect(await rotationRoutes["rotate-key"](t, agent, rotation)).toMatchObject({ status: 200 });
  return rotation.next;
}

const post = (by: TestAgent, { path }: Delegation, receipt: ExecutionReceipt) =>
  t.as(by, "POST", `${path}/result`, receipt);

async function evidenceOf({ path }: Delegation) {
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  const answer = await t.relay.fetch(new Request(`http://relay.test${path}/evidence`, { headers }));
  expect(answer.status).toBe(200);
  return verifyArtifact(await answer.text());
}

const completedAt = (task: Delegation, completed_at: number) =>
  createReceipt(worker, task, { completed_at });

test("G4: a receipt under a former key that was completed after the allowed skew is refused and changes nothing", async () => {
  const task = await submitAcceptedTask(t, boss, worker);
  await t.clock.advance(MINUTE_MS);
  const rotatedAt = t.clock.now();
  const next = await rotate(worker);
  await t.clock.advance(6 * MINUTE_MS);
  const before = await t.getBalance(worker);
  const late = completedAt(task, rotatedAt + 5 * MINUTE_MS);
  expect(await post(next, task, late)).toMatchObject({
    status: 403,
    body: { code: "receipt.signature_invalid" },
  });
  expect(await t.getBalance(worker)).toBe(before);
  expect((await t.as(boss, "GET", task.path)).body).toMatchObject({
    task: { status: "pending" },
  });
  expect(await post(next, task, createReceipt(next, task))).toMatchObject({ status: 200 });
  expect(await evidenceOf(task)).toMatchObject({ valid: true });
  await expectConsistentBooks(t);
});

test("G4: an honest late receipt under a former key is paid within the allowed skew, and its evidence is valid", async () => {
  const task = await submitAcceptedTask(t, boss, worker);
  await t.clock.advance(MINUTE_MS);
  const rotatedAt = t.clock.now();
  const next = await rotate(worker);
  await t.clock.advance(10 * MINUTE_MS);
  const receipt = completedAt(task, rotatedAt + 5 * MINUTE_MS - 1);
  expect(await post(next, task, receipt)).toMatchObject({ status: 200 });
  expect(await t.getBalance(worker)).toBe(1.9);
  expect(await evidenceOf(task)).toMatchObject({ valid: true });
});

test("G4: a receipt from a clock that is ahead stays valid in evidence after a rotation", async () => {
  const task = await submitAcceptedTask(t, boss, worker);
  const receipt = completedAt(task, t.clock.now() + 20 * MINUTE_MS);
  expect(await post(worker, task, receipt)).toMatchObject({ status: 200 });
  await t.clock.advance(MINUTE_MS);
  await rotate(worker);
  expect(await evidenceOf(task)).toMatchObject({ valid: true });
});

test("G4: a receipt completed long before its key was registered is paid, and its evidence is valid", async () => {
  const task = await submitAcceptedTask(t, boss, worker);
  const done = t.clock.now();
  await t.clock.advance(10 * MINUTE_MS);
  const next = await rotate(worker);
  const receipt = createReceipt(next, task, { completed_at: done });
  expect(await post(next, task, receipt)).toMatchObject({ status: 200 });
  expect(await evidenceOf(task)).toMatchObject({ valid: true });
});

test("G4: a receipt by a device that was revoked later stays valid in evidence", async () => {
  const task = await submitAcceptedTask(t, boss, worker);
  const phone = await createPairedDevice(t, worker, ["agent:write"]);
  const receipt = createReceipt(phone, task, { completed_at: t.clock.now() + MINUTE_MS });
  expect(await post(worker, task, receipt)).toMatchObject({ status: 200 });
  await t.clock.advance(1);
  await t.as(worker, "DELETE", `/api/v1/agents/${worker.agentId}/devices/${phone.deviceId}`);
  expect(await evidenceOf(task)).toMatchObject({ valid: true });
});

test("G4: a ledger under a former key counts by the same rule", async () => {
  const task = await submitAcceptedTask(t, boss, worker);
  await t.clock.advance(MINUTE_MS);
  const rotatedAt = t.clock.now();
  const next = await rotate(worker);
  await t.clock.advance(10 * MINUTE_MS);
  const store = async (ended: number) => {
    const events = createTimeline(task.task_id, []);
    const timeline = events.map((event) => ({ ...event, timestamp: ended }));
    const ledger = createLedger(worker, task.task_id, [], { timeline });
    return storeLedger(t, next, ledger);
  };
  expect(await store(rotatedAt + 5 * MINUTE_MS)).toMatchObject({
    status: 403,
    body: { code: "ledger.signature_invalid" },
  });
  expect(await t.as(next, "GET", ledgerPath(worker, task.task_id))).not.toMatchObject({
    body: { signature: expect.any(String) as unknown },
  });
  expect(await store(rotatedAt + 5 * MINUTE_MS - 1)).toMatchObject({ status: 201 });
});
