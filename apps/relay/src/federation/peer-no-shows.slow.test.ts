import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ManualClock, TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { settleEventLoop } from "../../test/devices.ts";
import { backUpStored, restoreStored } from "../../test/engine/backup.ts";
import type { ProxyAction } from "../../test/network/lossy-proxy.ts";
import {
  submitToBest,
  waitForTask,
  waitUntil,
  completeTask,
  type TestSite,
  startTwoSites,
  startBehindProxy,
  closeSites,
  type TwoSites,
} from "../../test/network/network.ts";
import { leaveFees } from "../../test/network/leave-fees.ts";

let folder: string;
let chooseAction: (path: string) => ProxyAction;
let clock: ManualClock;
let proxies: TwoSites["proxies"];
let a: TestSite;
let b: TestSite;
let boss: TestAgent;
let worker: TestAgent;

const file = () => join(folder, "alpha.db");

async function startAlpha(seed: number): Promise<void> {
  const env = { AGENT_DB_PATH: file() };
  a = await startBehindProxy(proxies[0], { name: "alpha", clock, seed, env });
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "peer-no-shows-"));
  chooseAction = () => "pass";
  const scene = await startTwoSites({
    chooseAction: (path) => chooseAction(path),
    alpha: { AGENT_DB_PATH: file() },
  });
  ({ clock, proxies, a, b, boss, worker } = scene);
  // Only within these fees do its failed tasks count.
  await leaveFees(a, boss);
  await clock.advance(1_000);
});
afterEach(async () => {
  await closeSites([a, b], proxies);
  rmSync(folder, { recursive: true });
});

/** Submits a task that beta has received and that its worker has not done yet. */
async function forwarded(capability = "summarise"): Promise<string> {
  const taskId = String((await submitToBest(a, boss, { capability })).body["task_id"]);
  await waitForTask(b, worker, taskId);
  const path = `/agent/${boss.agentId}/task/${taskId}`;
  await waitUntil(async () => {
    const { body } = await a.as(boss, "GET", path);
    return (body["task"] as { status: string }).status === "claimed";
  }, "the forward is known");
  return taskId;
}

const pass = async (minutes: number, sites = [a, b]) => {
  for (let minute = 0; minute < minutes; minute += 1) {
    await clock.advance(60_000);
    for (const site of sites) await site.relay.tick();
    await settleEventLoop();
  }
};

/** Expects that the task has expired at alpha and its payer has its money back. */
async function expectExpired(taskId: string): Promise<void> {
  await waitUntil(async () => (await a.getBalance(boss)) === 10, "the hold comes back");
  expect((await a.as(boss, "GET", `/agent/${boss.agentId}/task/${taskId}`)).status).toBe(404);
}

async function failuresOfBeta(): Promise<number> {
  const { body } = await a.asOperator("GET", `/api/v1/agents/${a.relayId}/trust/${b.relayId}`);
  return Number(body["failed_tasks"] ?? 0);
}

const doneThere = async (taskId: string) =>
  expect(await completeTask(b, worker, await waitForTask(b, worker, taskId))).toMatchObject({
    status: 200,
  });

test("B2: a task that expires at its peer is that peer's no-show", async () => {
  const taskId = await forwarded();
  await pass(16);
  await expectExpired(taskId);
  expect(await failuresOfBeta()).toBe(1);
});

test("B2: a free task that expires at its peer changes nothing in the peer's record", async () => {
  worker = await b.createWorker(0, "greet");
  const taskId = await forwarded("greet");
  await pass(16);
  await waitUntil(
    async () => (await a.as(boss, "GET", `/agent/${boss.agentId}/task/${taskId}`)).status === 404,
    "the task expires",
  );
  const { body } = await a.as(boss, "GET", `/agent/${boss.agentId}/task/${taskId}/evidence`);
  expect(body).toMatchObject({ no_shows: [{ agent_id: b.relayId, priced: false }] });
  expect(await failuresOfBeta()).toBe(0);
});

test("B2: a result that waits because this relay was down is not the peer's no-show", async () => {
  const taskId = await forwarded();
  await a.stop();
  await doneThere(taskId);
  await pass(11, [b]);
  // The next attempt follows only after the task's end, whatever the number of earlier ones.
  chooseAction = (path) => (path.includes("/task/result") ? "refuse" : "pass");
  await startAlpha(9);
  await pass(5);
  await expectExpired(taskId);
  expect(await failuresOfBeta()).toBe(0);
});

test("B2: a peer that the operator removed may send no result any more, so its task is not a no-show", async () => {
  const taskId = await forwarded();
  const there = await waitForTask(b, worker, taskId);
  // The result does not arrive.
  chooseAction = (path) => (path.includes("/task/result") ? "refuse" : "pass");
  // The removal cancels tasks that no executor has begun.
  await b.as(worker, "POST", `/agent/${worker.agentId}/task/${taskId}/claim`);
  await a.asOperator("DELETE", `/api/v1/admin/federation/peers/${b.relayId}`);
  expect(await completeTask(b, worker, there)).toMatchObject({ status: 200 });
  await pass(16);
  await expectExpired(taskId);
  expect(await failuresOfBeta()).toBe(0);
});

test("A8, B2: a task whose result was lost when a relay was restored is not a no-show of its peer", async () => {
  const backup = join(folder, "backup");
  const taskId = await forwarded();
  await backUpStored(file(), backup);
  await doneThere(taskId);
  await waitUntil(async () => (await b.getBalance(worker)) === 0.9025, "the worker is paid");
  await waitUntil(async () => (await a.getBalance(boss)) === 9, "the payer is charged");
  await a.close();
  await clock.advance(5_000);
  await restoreStored(file(), backup, clock.now());
  await startAlpha(9);
  await a.asOperator("POST", "/api/v1/admin/unfreeze", { restored: true });
  await pass(16);
  await expectExpired(taskId);
  expect(await failuresOfBeta()).toBe(0);
  const { body } = await a.as(boss, "GET", `/agent/${boss.agentId}/task/${taskId}/evidence`);
  expect(body).not.toHaveProperty("no_shows");
});
