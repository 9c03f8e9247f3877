import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestAgent } from "@agent/testkit";
import type { Task } from "@agent/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createFakePeer } from "../../test/network/fake-peer.ts";
import type { ProxyAction } from "../../test/network/lossy-proxy.ts";
import {
  advanceUntil,
  closeSites,
  completeTask,
  getReconciliation,
  startBehindProxy,
  startTwoSites,
  submitToBest,
  waitForTask,
  waitUntil,
  type TestSite,
  type TwoSites,
} from "../../test/network/network.ts";

let actions: Record<string, ProxyAction>;
let scene: TwoSites;
let [a, b] = [] as unknown as [TestSite, TestSite];
let boss: TestAgent;
let beta: Record<string, string>;
let folder: string;
beforeEach(async () => {
  actions = {};
  folder = mkdtempSync(join(tmpdir(), "cancel-notice-"));
  beta = { AGENT_DB_PATH: join(folder, "beta.db") };
  scene = await startTwoSites({
    beta,
    chooseAction: (path) => actions[path.replace("/federation/v1/", "")] ?? "pass",
  });
  ({ a, b, boss } = scene);
});
afterEach(async () => {
  await closeSites([a, b], scene.proxies);
  rmSync(folder, { recursive: true });
});

const pathOf = (taskId: string) => `/agent/${boss.agentId}/task/${taskId}`;
const readTask = async (taskId: string) =>
  (await a.as(boss, "GET", pathOf(taskId))).body["task"] as Task;
const isCancelled = async (taskId: string) => (await readTask(taskId)).status === "cancelled";

const waitFor = (what: string, condition: () => Promise<boolean> | boolean) =>
  advanceUntil(scene.clock, [a, b], { stepMs: 30_000, what }, condition);

async function submit(): Promise<string> {
  const submitted = await submitToBest(a, boss, {});
  expect(submitted.status).toBe(201);
  return String(submitted.body["task_id"]);
}

/** Submits a task that waits for the worker at beta. */
async function submitForwarded(): Promise<string> {
  const taskId = await submit();
  await waitForTask(b, scene.worker, taskId);
  await waitUntil(async () => (await readTask(taskId)).status === "claimed", "it is forwarded");
  return taskId;
}

async function revokeWorker(): Promise<void> {
  const path = `/api/v1/agents/${scene.worker.agentId}/revoke`;
  expect((await b.asOperator("POST", path, {})).status).toBe(200);
}

async function expectNoMoneyHeld(): Promise<void> {
  expect(await a.getBalance(boss)).toBe(10);
  for (const site of [a, b]) {
    expect(await getReconciliation(site)).toMatchObject({ consistent: true, totals: { holds: 0 } });
  }
}

test("FE28: the submitter's money is released soon after the executor of a forwarded task was revoked", async () => {
  const startedAt = scene.clock.now();
  const taskId = await submitForwarded();
  await revokeWorker();
  await waitFor("the origin learns of the end", () => isCancelled(taskId));
  expect(scene.clock.now() - startedAt).toBeLessThan(120_000);
  await expectNoMoneyHeld();
});

test("FE28: a notice whose answers are lost is sent again until one arrives, and ends the task only once", async () => {
  const taskId = await submitForwarded();
  actions["task/cancel"] = "refuse";
  await revokeWorker();
  await waitFor("the notice fails", () => b.listLogged("federation.cancel_notice.sent").length > 1);
  expect(await isCancelled(taskId)).toBe(false);
  actions["task/cancel"] = "lose-answer";
  await waitFor("the origin learns of the end", () => isCancelled(taskId));
  delete actions["task/cancel"];
  const isAnswered = () =>
    b.listLogged("federation.cancel_notice.sent").at(-1)?.["meaning"] === "accepted";
  await waitFor("the notice is answered", isAnswered);
  await expectNoMoneyHeld();
});

test("FE28: a notice that did not arrive is sent again after the relay that had the task has restarted", async () => {
  const taskId = await submitForwarded();
  actions["task/cancel"] = "refuse";
  await revokeWorker();
  await waitFor("the notice fails", () => b.listLogged("federation.cancel_notice.sent").length > 0);
  await b.stop();
  b = await startBehindProxy(scene.proxies[1], {
    name: "beta",
    clock: scene.clock,
    seed: 3,
    env: beta,
  });
  delete actions["task/cancel"];
  await waitFor("the origin learns of the end", () => isCancelled(taskId));
  await expectNoMoneyHeld();
});

test("FE28: only the peer that has a task can end it by a notice, and no notice ends a task with a result", async () => {
  const taskId = await submitForwarded();
  const stranger = await createFakePeer(a).completeHandshake();
  const notice = { task_id: taskId, origin_relay: a.relayId };
  expect(await stranger.post("/federation/v1/task/cancel", notice)).toMatchObject({
    status: 403,
    body: { code: "cancel.wrong_peer" },
  });
  expect(await readTask(taskId)).toMatchObject({ status: "claimed" });
  const task = await waitForTask(b, scene.worker, taskId);
  expect((await completeTask(b, scene.worker, task)).status).toBe(200);
  await waitUntil(async () => (await b.getBalance(scene.worker)) === 0.9025, "the worker is paid");
  await waitUntil(async () => (await a.getBalance(boss)) === 9, "the payer is charged");
  await revokeWorker();
  const late = { task_id: taskId, origin_relay: b.relayId };
  expect(await stranger.post("/federation/v1/task/cancel", late)).toMatchObject({ status: 403 });
  expect(await a.getBalance(boss)).toBe(9);
});

test("FE29: a cancel releases the money of a task whose forward was lost and whose id a third party has taken", async () => {
  const startedAt = scene.clock.now();
  actions["task/forward"] = "refuse";
  const taskId = await submit();
  const isSent = () => a.listLogged("federation.task.forward").length === 1;
  await waitUntil(isSent, "the forward is lost");
  delete actions["task/forward"];
  await takeId(taskId);
  expect((await a.as(boss, "POST", `${pathOf(taskId)}/cancel`)).status).toBe(202);
  await waitFor("the cancel takes effect", () => isCancelled(taskId));
  expect(scene.clock.now() - startedAt).toBeLessThan(120_000);
  expect(await a.getBalance(boss)).toBe(10);
  expect(await getReconciliation(a)).toMatchObject({ consistent: true, totals: { holds: 0 } });
});

test("FE29: a cancel of a task whose forward was lost and whose id nothing else uses waits for the task's end", async () => {
  actions["task/forward"] = "refuse";
  const taskId = await submit();
  const isSent = () => a.listLogged("federation.task.forward").length === 1;
  await waitUntil(isSent, "the forward is lost");
  expect((await a.as(boss, "POST", `${pathOf(taskId)}/cancel`)).status).toBe(202);
  await waitFor("the peer is asked", () => a.listLogged("federation.task.cancel").length > 1);
  expect(await readTask(taskId)).toMatchObject({ status: "claimed" });
});

/** Uses a task id at beta for a free task of a third relay. */
async function takeId(taskId: string): Promise<void> {
  const { agentId: target_agent } = await b.createWorker(0, "greet");
  const peer = await createFakePeer(b).completeHandshake();
  const taken = await peer.forward({
    task_id: taskId,
    target_agent,
    task_payload: { prompt: "mine" },
    budget: { amount: 0, currency: "USD" },
  });
  expect(taken.status).toBe(202);
}
