import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { serveTestRelay, type ServedRelay } from "../../test/devices.ts";
import { createRevocationSql } from "../../test/stored/edited-relay.ts";
import { editStored } from "../../test/engine/stored.ts";
import {
  createBuyer,
  createSeller,
  expectConsistentBooks,
  getTaskAt,
  getTaskStatus,
  submitAcceptedTask,
  submitTask,
  type Delegation,
} from "../../test/market.ts";
import { createReceipt, startTestRelay } from "../../test/test-relay.ts";

let t: ServedRelay;
let boss: TestAgent;
let worker: TestAgent;
beforeEach(async () => {
  t = await serveTestRelay();
  [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
});
afterEach(() => t.close());

const revoke = (agent: TestAgent) =>
  t.asOperator("POST", `/api/v1/agents/${agent.agentId}/revoke`, {});
const statusOf = (task: Delegation) => getTaskStatus(t, task);

test("a task that waits for an agent is cancelled when the agent is revoked, and its hold is returned", async () => {
  const task = await submitAcceptedTask(t, boss, worker);
  const other = await submitAcceptedTask(t, boss, await createSeller(t, 2));
  expect(await t.getHeldAmount(boss)).toBe(4.8);
  await revoke(worker);
  await expect.poll(() => statusOf(task)).toBe("cancelled");
  expect(await t.getHeldAmount(boss)).toBe(2.4);
  expect(await t.getBalance(boss)).toBe(7.6);
  expect(await statusOf(other)).toBe("pending");
  await expectConsistentBooks(t);
});

test("a task that was sent to a connected device is cancelled when the device's agent is revoked", async () => {
  const device = await t.connectDevice(worker);
  const task = await submitAcceptedTask(t, boss, worker);
  await device.next("task_assigned");
  await revoke(worker);
  await expect.poll(() => statusOf(task)).toBe("cancelled");
});

test("a long poll of a task ends when the agent that the task waits for is revoked", async () => {
  const task = await submitAcceptedTask(t, boss, worker);
  const polled = t.as(boss, "GET", `${task.path}?wait=30&after=1`);
  await revoke(worker);
  expect((await polled).body).toMatchObject({ task: { status: "cancelled" } });
});

test("a claimed task can still be paid after its executor is revoked, and is cancelled once its claim ends", async () => {
  const [paid, lost] = [
    await submitAcceptedTask(t, boss, worker),
    await submitAcceptedTask(t, boss, worker),
  ];
  for (const { path } of [paid, lost]) {
    expect((await t.as(worker, "POST", `${path}/claim`)).status).toBe(200);
  }
  await t.advance(1_000);
  await revoke(worker);
  const receipt = createReceipt(worker, paid);
  expect(await t.asOperator("POST", `${paid.path}/result`, receipt)).toMatchObject({ status: 200 });
  expect(await t.getBalance(worker)).toBe(1.9);
  expect(await statusOf(lost)).toBe("claimed");
  await t.advance(66_000);
  await t.relay.tick();
  await expect.poll(() => statusOf(lost)).toBe("cancelled");
  expect(await t.getHeldAmount(boss)).toBe(0);
});

test("a task goes to the next executor when the one that routing chose is revoked", async () => {
  const others = [worker, await createSeller(t, 2)];
  const target = await t.createAgent();
  const required = { required_capabilities: ["summarise"] };
  const task = await submitAcceptedTask(t, boss, target, required);
  const { assigned_to: chosen } = await getTaskAt(t, task.path);
  const [revoked, next] = others.toSorted(({ agentId }) => (agentId === chosen ? -1 : 1));
  if (revoked === undefined || next === undefined) throw new Error("two sellers were ranked");
  await revoke(revoked);
  const moved = { status: "pending", assigned_to: next.agentId };
  await expect.poll(() => getTaskAt(t, task.path)).toMatchObject(moved);
  const device = await t.connectDevice(next);
  expect(await device.next("task_assigned")).toMatchObject({ task: { task_id: task.task_id } });
});

test("a submission to a revoked agent is refused, and holds nothing", async () => {
  await revoke(worker);
  expect(await submitTask(t, boss, worker)).toMatchObject({
    status: 403,
    body: { code: "task.target_revoked" },
  });
  const pinned = { public_key: worker.publicKey };
  expect(await submitTask(t, boss, worker, pinned)).toMatchObject({
    body: { code: "task.target_revoked" },
  });
  expect(await t.getBalance(boss)).toBe(10);
  const able = await createSeller(t, 2);
  const routed = await submitTask(t, boss, worker, { required_capabilities: ["summarise"] });
  expect(routed.body).toMatchObject({ routing_choice: { selected_agent: able.agentId } });
});

test("all tasks are cancelled when their agent is revoked, even if they fill more than one page", async () => {
  const kept = await submitAcceptedTask(t, boss, await createSeller(t, 0));
  const revoked = await createSeller(t, 0);
  await Promise.all(Array.from({ length: 150 }, () => submitAcceptedTask(t, boss, revoked)));
  await revoke(revoked);
  const countCancelled = () => t.listLogged("task.cancelled").length;
  await expect.poll(countCancelled, { timeout: 20_000 }).toBe(150);
  expect(await statusOf(kept)).toBe("pending");
});

test("tasks of agents that were revoked under an earlier version are cancelled after a start", async () => {
  const folder = mkdtempSync(join(tmpdir(), "relay-revoked-"));
  const env = { AGENT_DB_PATH: join(folder, "relay.db") };
  const before = await startTestRelay(env);
  const [payer, seller] = [await createBuyer(before, 10), await createSeller(before, 2)];
  const task = await submitAcceptedTask(before, payer, seller);
  await before.close();
  await editStored(env.AGENT_DB_PATH, createRevocationSql(seller));
  const after = await startTestRelay(env, 2);
  await after.clock.advance(6_000);
  await after.relay.tick();
  await expect.poll(async () => (await getTaskAt(after, task.path)).status).toBe("cancelled");
  expect(await after.getBalance(payer)).toBe(10);
  await after.close();
  rmSync(folder, { recursive: true });
});
