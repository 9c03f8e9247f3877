import type { TestAgent } from "@agent/testkit";
import { limits } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { serveTestRelay, type ServedRelay } from "../../../test/devices.ts";
import {
  createBuyer,
  submitAcceptedTask,
  expectConsistentBooks,
  getAgentStates,
  createSeller,
  getTaskAt,
  type Delegation,
} from "../../../test/market.ts";
import { OPERATOR_TOKEN, createReceipt } from "../../../test/test-relay.ts";

let t: ServedRelay;
let boss: TestAgent;
let worker: TestAgent;
let task: Delegation;
beforeEach(async () => {
  t = await serveTestRelay();
  [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
  await t.clock.advance(1_000);
  task = await submitAcceptedTask(t, boss, worker);
});
afterEach(() => t.close());

const claim = (by = worker) => t.as(by, "POST", `${task.path}/claim`);
const progress = (body: object = {}) => t.as(worker, "POST", `${task.path}/progress`, body);
const release = (by = worker) => t.as(by, "DELETE", `${task.path}/claim`);
const asSecondDevice = (method: string, verb: string, body?: object) =>
  t.request(method, `${task.path}/${verb}`, { token: OPERATOR_TOKEN, body });
const statusOf = async () => (await getTaskAt(t, task.path)).status;

describe("B3: a worker that polls", () => {
  test("B3: a polling worker claims a task for 60 s, in which a cancel requires the worker's consent", async () => {
    const { body } = await t.as(worker, "GET", `/agent/${worker.agentId}/tasks?status=pending`);
    expect(body["tasks"]).toMatchObject([{ task_id: task.task_id }]);
    expect(await claim()).toMatchObject({
      status: 200,
      body: {
        task_id: task.task_id,
        status: "claimed",
        lease_until: t.clock.now() + limits.claimLeaseMs,
      },
    });
    expect(await statusOf()).toBe("claimed");
    expect((await t.as(boss, "POST", `${task.path}/cancel`)).status).toBe(202);
    const receipt = createReceipt(worker, task);
    expect((await t.as(worker, "POST", `${task.path}/result`, receipt)).status).toBe(200);
    expect([await t.getBalance(boss), await t.getBalance(worker)]).toEqual([8, 1.9]);
    await expectConsistentBooks(t, { holds: 0 });
  });

  test.each([
    ["the same call", () => claim()],
    ["progress without a note", () => progress()],
    ["progress with a note", () => progress({ note: "half" })],
  ])("B3: a polling worker keeps its claim by %s, for longer than a lease", async (_, renew) => {
    await claim();
    for (let minutes = 0; minutes < 3; minutes += 1) {
      await t.advance(50_000);
      expect((await renew()).body).toMatchObject({ lease_until: t.clock.now() + 60_000 });
    }
    await t.advance(55_000);
    expect(await statusOf()).toBe("claimed");
  });

  test("B3: a polling worker loses its claim 60 s after its last call", async () => {
    await claim();
    await t.advance(59_000);
    expect(await statusOf()).toBe("claimed");
    await t.advance(6_000);
    expect(await statusOf()).toBe("pending");
    expect(await progress()).toMatchObject({ status: 409, body: { code: "task.not_claimed" } });
    expect((await claim()).status).toBe(200);
  });

  test("B3: a polling worker's notes are shown to its customer", async () => {
    await claim();
    await progress({ note: "half" });
    await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
    const { text } = await t.as(boss, "GET", `${task.path}/events`);
    expect(text).toContain('"type":"progress"');
    expect(text).toContain('"note":"half"');
  });

  test("B3: a polling worker shares its task with the socket of the same device, and with no other device", async () => {
    await claim();
    const device = await t.connectDevice(worker);
    device.send({ type: "progress", task_id: task.task_id });
    expect(await device.takeRemaining()).toEqual([]);
    const other = await t.connectDevice(worker, OPERATOR_TOKEN);
    other.send({ type: "claim", task_id: task.task_id });
    expect(await other.next("error")).toMatchObject({ code: "task.not_pending" });
  });

  test("B3: a claim cannot be renewed, reported on or released by another device", async () => {
    const { body } = await claim();
    await t.advance(30_000);
    expect(await asSecondDevice("POST", "claim")).toMatchObject({
      status: 409,
      body: { code: "task.not_pending" },
    });
    expect(await asSecondDevice("POST", "progress", {})).toMatchObject({ status: 409 });
    expect(await asSecondDevice("DELETE", "claim")).toMatchObject({ status: 409 });
    expect(await statusOf()).toBe("claimed");
    expect(body["lease_until"]).toBe(t.clock.now() + 30_000);
    await t.advance(36_000);
    expect(await statusOf()).toBe("pending");
  });

  test("B3: a polling worker releases a task, and the next executor is offered it at once", async () => {
    const rival = await createSeller(t, 2);
    const sockets = new Map([
      [worker, await t.connectDevice(worker)],
      [rival, await t.connectDevice(rival)],
    ]);
    await sockets.get(worker)?.next("task_assigned");
    task = await submitAcceptedTask(t, boss, boss, { required_capabilities: ["summarise"] });
    const { assigned_to } = await getTaskAt(t, task.path);
    const [first, next] = assigned_to === worker.agentId ? [worker, rival] : [rival, worker];
    expect((await claim(first)).status).toBe(200);
    expect(await release(first)).toMatchObject({ status: 200, body: { status: "pending" } });
    expect(await sockets.get(next)?.next("task_assigned")).toMatchObject({
      task: { task_id: task.task_id },
    });
    expect((await claim(first)).status).toBe(403);
    expect((await claim(next)).status).toBe(200);
  });

  test("B7: a released task is not assigned to an executor whose devices announced other capabilities", async () => {
    // The boss trusts the worker from now on, so it is the first executor.
    await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
    const rival = await createSeller(t, 2);
    for (const [agent, capability] of [
      [worker, "summarise"],
      [rival, "translate"],
    ] as const) {
      const device = await t.connectDevice(agent);
      device.send({ type: "capabilities", capabilities: [capability] });
      await device.takeRemaining();
    }
    task = await submitAcceptedTask(t, boss, boss, { required_capabilities: ["summarise"] });
    const { assigned_to } = await getTaskAt(t, task.path);
    expect(assigned_to).toBe(worker.agentId);
    expect((await claim()).status).toBe(200);
    await release();
    await t.as(boss, "POST", `${task.path}/cancel`);
    const { text } = await t.as(boss, "GET", `${task.path}/events`);
    expect(text).toContain('"type":"released"');
    expect(text).not.toContain(rival.agentId);
  });

  test("A12: a released task is not offered to an executor that costs more than the payer was told", async () => {
    const expensive = await createSeller(t, 9);
    const [device, other] = [await t.connectDevice(worker), await t.connectDevice(expensive)];
    await device.next("task_assigned");
    task = await submitAcceptedTask(t, boss, boss, { required_capabilities: ["summarise"] });
    expect((await getTaskAt(t, task.path)).assigned_to).toBe(worker.agentId);
    expect((await claim()).status).toBe(200);
    await release();
    expect(await other.takeRemaining()).toEqual([]);
    expect((await getTaskAt(t, task.path)).assigned_to).toBe(worker.agentId);
  });

  test("B3: a worker cannot claim tasks of a customer that blocked it, and keeps its earlier claims", async () => {
    const before = await submitAcceptedTask(t, boss, worker);
    await t.as(worker, "POST", `${before.path}/claim`);
    const path = `/api/v1/agents/${boss.agentId}/trust/${worker.agentId}`;
    await t.as(boss, "PUT", path, { trust_level: "blocked" });
    expect(await claim()).toMatchObject({ status: 409, body: { code: "task.not_pending" } });
    await expect.poll(statusOf).toBe("cancelled");
    expect((await t.as(worker, "POST", `${before.path}/claim`)).status).toBe(200);
  });

  test("B3: a polling worker is refused forbidden calls, and nothing changes", async () => {
    const held = await getAgentStates(t, [boss, worker]);
    const stranger = await t.createAgent();
    for (const by of [boss, stranger]) {
      expect(await claim(by)).toMatchObject({
        status: 403,
        body: { code: "task.not_participant" },
      });
      expect((await release(by)).status).toBe(403);
    }
    const token = await t.token(worker, ["task:read"]);
    const unscoped = await t.request("POST", `${task.path}/claim`, { token });
    expect(unscoped).toMatchObject({ status: 403, body: { code: "auth.scope_missing" } });
    expect(await progress({ note: 7 })).toMatchObject({
      status: 400,
      body: { code: "request.invalid" },
    });
    expect(await release()).toMatchObject({ status: 409, body: { code: "task.not_claimed" } });
    expect(await statusOf()).toBe("pending");
    expect(await getAgentStates(t, [boss, worker])).toEqual(held);
    const elsewhere = `/agent/${boss.agentId}/task/${task.task_id}/claim`;
    expect((await t.as(worker, "POST", elsewhere)).status).toBe(404);
    expect(await statusOf()).toBe("pending");
    await t.clock.advance(900_000);
    for (const call of [claim, progress, release]) {
      expect(await call()).toMatchObject({ status: 404, body: { code: "task.not_found" } });
    }
  });

  test("B3: only one of ten concurrent claims is granted", async () => {
    const answers = await Promise.all([
      ...Array.from({ length: 5 }, () => claim()),
      ...Array.from({ length: 5 }, () => asSecondDevice("POST", "claim")),
    ]);
    const winners = answers.flatMap(({ status }, at) => (status === 200 ? [at < 5] : []));
    expect(new Set(winners).size).toBe(1);
    expect(winners).toHaveLength(5);
  });
});
