import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { serveTestRelay, type ServedRelay } from "../../test/devices.ts";
import { editStored } from "../../test/engine/stored.ts";
import {
  createBuyer,
  createSeller,
  expectConsistentBooks,
  getTaskAt,
  getTaskStatus,
  submitAcceptedTask,
  type Delegation,
} from "../../test/market.ts";
import { registerEndpoint, startMcpEndpoint, textResult } from "../../test/network/endpoint.ts";
import { createReceipt, startTestRelay } from "../../test/test-relay.ts";

let t: ServedRelay;
let boss: TestAgent;
let worker: TestAgent;
beforeEach(async () => {
  t = await serveTestRelay();
  [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
});
afterEach(() => t.close());

const block = async (whom = worker, by = boss) => {
  const path = `/api/v1/agents/${by.agentId}/trust/${whom.agentId}`;
  expect(await t.as(by, "PUT", path, { trust_level: "blocked" })).toMatchObject({ status: 200 });
};
const statusOf = (task: Delegation) => getTaskStatus(t, task);
const claim = async ({ path }: Delegation) =>
  expect(await t.as(worker, "POST", `${path}/claim`)).toMatchObject({ status: 200 });
const deliver = (task: Delegation) =>
  t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
const notParticipant = { status: 403, body: { code: "task.not_participant" } };

describe("a task that waits for an agent that its submitter blocks", () => {
  test("A24: a task that waits for an agent is cancelled when its submitter blocks the agent, and its hold is returned", async () => {
    const task = await submitAcceptedTask(t, boss, worker);
    const kept = [
      await submitAcceptedTask(t, boss, await createSeller(t, 2)),
      await submitAcceptedTask(t, await createBuyer(t, 10), worker),
    ];
    await block();
    await expect.poll(() => statusOf(task)).toBe("cancelled");
    expect([await t.getHeldAmount(boss), await t.getBalance(boss)]).toEqual([2.4, 7.6]);
    expect(await Promise.all(kept.map(statusOf))).toEqual(["pending", "pending"]);
    await expectConsistentBooks(t);
  });

  test("A24: a device that was sent a task is told that the task is cancelled when its agent is blocked", async () => {
    const device = await t.connectDevice(worker);
    const task = await submitAcceptedTask(t, boss, worker);
    await device.next("task_assigned");
    await block();
    expect(await device.next("task_cancelled")).toMatchObject({ task_id: task.task_id });
    expect(await statusOf(task)).toBe("cancelled");
  });

  test("A24: a long poll of a task ends when the operator blocks the agent that the task waits for", async () => {
    const task = await submitAcceptedTask(t, boss, worker);
    const polled = t.as(boss, "GET", `${task.path}?wait=30&after=1`);
    const path = `/api/v1/agents/${boss.agentId}/trust/${worker.agentId}`;
    await t.asOperator("PUT", path, { trust_level: "blocked" });
    expect((await polled).body).toMatchObject({ task: { status: "cancelled" } });
  });

  test("A24: a task goes to the next executor when the one that routing chose is blocked, until all are", async () => {
    const others = [worker, await createSeller(t, 2)];
    const required = { required_capabilities: ["summarise"] };
    const target = await t.createAgent();
    const task = await submitAcceptedTask(t, boss, target, required);
    const { assigned_to: chosen } = await getTaskAt(t, task.path);
    const [blocked, next] = others.toSorted(({ agentId }) => (agentId === chosen ? -1 : 1));
    await block(blocked);
    const moved = { status: "pending", assigned_to: next?.agentId };
    await expect.poll(() => getTaskAt(t, task.path)).toMatchObject(moved);
    await block(next);
    const back = { status: "pending", assigned_to: null };
    await expect.poll(() => getTaskAt(t, task.path)).toMatchObject(back);
    await block(target);
    await expect.poll(() => statusOf(task)).toBe("cancelled");
    expect(await t.getHeldAmount(boss)).toBe(0);
  });

  test("A24: a task that waits for a blocked agent is cancelled after a start if the relay ended before that", async () => {
    const folder = mkdtempSync(join(tmpdir(), "relay-blocked-"));
    const env = { AGENT_DB_PATH: join(folder, "relay.db") };
    const before = await startTestRelay(env);
    const [payer, seller] = [await createBuyer(before, 10), await createSeller(before, 2)];
    const task = await submitAcceptedTask(before, payer, seller);
    await before.close();
    const edit = "INSERT INTO trust_records VALUES (?, ?, 0, 1, 1, 0, 0, 0, 0, NULL, 0)";
    await editStored(env.AGENT_DB_PATH, edit, [payer.agentId, seller.agentId]);
    const after = await startTestRelay(env, 2);
    await after.clock.advance(6_000);
    await after.relay.tick();
    await expect.poll(async () => (await getTaskAt(after, task.path)).status).toBe("cancelled");
    expect(await after.getBalance(payer)).toBe(10);
    await after.close();
    rmSync(folder, { recursive: true });
  });
});

describe("a task that an agent has begun when its submitter blocks it", () => {
  test("A24: a claimed task is paid although its executor was blocked, and is cancelled once the claim ends", async () => {
    const [paid, lost] = [
      await submitAcceptedTask(t, boss, worker),
      await submitAcceptedTask(t, boss, worker),
    ];
    for (const task of [paid, lost]) await claim(task);
    await block();
    const read = await t.as(worker, "GET", paid.path);
    expect(read).toMatchObject({ status: 200, body: { task: { status: "claimed" } } });
    expect(await deliver(paid)).toMatchObject({ status: 200 });
    expect(await deliver(paid)).toMatchObject({ status: 200 });
    expect(await t.as(worker, "GET", paid.path)).toMatchObject({ status: 200 });
    expect(await t.getBalance(worker)).toBe(1.9);
    await t.advance(66_000);
    await t.relay.tick();
    await expect.poll(() => statusOf(lost)).toBe("cancelled");
    expect(await t.getHeldAmount(boss)).toBe(0);
    await expectConsistentBooks(t);
  });

  test("A24: a task is cancelled when a blocked executor releases its claim", async () => {
    const task = await submitAcceptedTask(t, boss, worker);
    await claim(task);
    await block();
    expect(await t.as(worker, "DELETE", `${task.path}/claim`)).toMatchObject({ status: 200 });
    await expect.poll(() => statusOf(task)).toBe("cancelled");
  });

  test("A24: a task is paid if its executor was blocked while the relay called its endpoint", async () => {
    let answer = () => {};
    const answered = new Promise<void>((resolve) => (answer = resolve));
    let task: Delegation | undefined;
    const endpoint = await startMcpEndpoint(async () => {
      await answered;
      return textResult(JSON.stringify(createReceipt(worker, task!)));
    });
    await registerEndpoint(t, worker, endpoint.url);
    task = await submitAcceptedTask(t, boss, worker);
    await expect.poll(() => endpoint.calls).toHaveLength(1);
    await block();
    answer();
    await expect.poll(() => statusOf(task!)).toBe("completed");
    expect(await t.getBalance(worker)).toBe(1.9);
    await endpoint.close();
  });
});

describe("an agent that a task's submitter blocked before the agent claimed the task", () => {
  test("D24: an agent that was blocked before it claimed a task can no longer read the task, and is not paid for it", async () => {
    const task = await submitAcceptedTask(t, boss, worker);
    expect((await t.as(worker, "GET", task.path)).body).toMatchObject({ task: { prompt: "work" } });
    const polled = t.as(worker, "GET", `${task.path}?wait=30&after=1`);
    await block();
    expect(await polled).toMatchObject(notParticipant);
    for (const path of [task.path, `${task.path}/evidence`, `${task.path}/events`]) {
      expect(await t.as(worker, "GET", path)).toMatchObject(notParticipant);
    }
    expect((await deliver(task)).status).toBeGreaterThanOrEqual(400);
    expect((await t.as(worker, "GET", `/agent/${worker.agentId}/tasks`)).body["tasks"]).toEqual([]);
    expect([await t.getBalance(worker), await t.getBalance(boss)]).toEqual([0, 10]);
    expect(await t.as(boss, "GET", task.path)).toMatchObject({ status: 200 });
  });

  test("D24: a blocked agent can no longer read a task that was addressed to it and assigned to another agent", async () => {
    const target = await t.createAgent();
    const required = { required_capabilities: ["summarise"] };
    const task = await submitAcceptedTask(t, boss, target, required);
    expect((await getTaskAt(t, task.path)).assigned_to).toBe(worker.agentId);
    expect(await t.as(target, "GET", task.path)).toMatchObject({ status: 200 });
    await block(target);
    expect(await t.as(target, "GET", task.path)).toMatchObject(notParticipant);
    expect(await t.as(worker, "GET", task.path)).toMatchObject({ status: 200 });
    await claim(task);
    expect(await deliver(task)).toMatchObject({ status: 200 });
    expect(await t.as(target, "GET", task.path)).toMatchObject(notParticipant);
  });
});

describe("a task whose submitter is revoked", () => {
  const revoke = () => t.asOperator("POST", `/api/v1/agents/${boss.agentId}/revoke`, {});

  test("A25: a task that no executor has begun is cancelled when its submitter is revoked, and its hold is returned", async () => {
    const device = await t.connectDevice(worker);
    const task = await submitAcceptedTask(t, boss, worker);
    const other = await submitAcceptedTask(t, await createBuyer(t, 10), worker);
    await device.next("task_assigned");
    await revoke();
    await expect.poll(() => statusOf(task)).toBe("cancelled");
    expect([await t.getHeldAmount(boss), await t.getBalance(boss)]).toEqual([0, 10]);
    expect(await statusOf(other)).toBe("pending");
    await expectConsistentBooks(t);
  });

  test("A25: a claimed task is paid although its submitter was revoked, and is cancelled once the claim ends", async () => {
    const [paid, lost] = [
      await submitAcceptedTask(t, boss, worker),
      await submitAcceptedTask(t, boss, worker),
    ];
    for (const task of [paid, lost]) await claim(task);
    await revoke();
    expect(await deliver(paid)).toMatchObject({ status: 200 });
    expect(await t.getBalance(worker)).toBe(1.9);
    await t.advance(66_000);
    await t.relay.tick();
    await expect.poll(() => statusOf(lost)).toBe("cancelled");
    expect(await t.getHeldAmount(boss)).toBe(0);
  });
});
