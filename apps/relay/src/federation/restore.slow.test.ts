import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ManualClock, TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { backUpStored, restoreStored } from "../../test/engine/backup.ts";
import { completeTaskOfPeer, federated } from "../../test/contract/operator/federation.ts";
import { createFakePeer } from "../../test/network/fake-peer.ts";
import type { ProxyAction } from "../../test/network/lossy-proxy.ts";
import {
  getReconciliation,
  getPeerPositions,
  submitToBest,
  waitForTask,
  advanceUntil,
  waitUntil,
  completeTask,
  type TestSite,
  startTwoSites,
  startBehindProxy,
  closeSites,
  type TwoSites,
  getPeer,
} from "../../test/network/network.ts";
import { startTestRelay } from "../../test/test-relay.ts";

let folder: string;
let clock: ManualClock;
let chooseAction: (path: string) => ProxyAction;
let proxies: TwoSites["proxies"];
let a: TestSite;
let b: TestSite;
let boss: TestAgent;
let worker: TestAgent;

const file = () => join(folder, "beta.db");
const copy = () => join(folder, "beta.backup");

function startBeta(seed: number): Promise<TestSite> {
  const env = { AGENT_DB_PATH: file() };
  return startBehindProxy(proxies[1], { name: "beta", clock, seed, env });
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "relay-restore-"));
  chooseAction = () => "pass";
  const scene = await startTwoSites({
    chooseAction: (path) => chooseAction(path),
    beta: { AGENT_DB_PATH: file() },
  });
  ({ clock, proxies, a, b, boss, worker } = scene);
});
afterEach(async () => {
  await closeSites([a, b], proxies);
  rmSync(folder, { recursive: true });
});

const backUp = () => backUpStored(file(), copy());

/** Replaces beta by its backup. */
async function restoreBeta(seed = 9): Promise<void> {
  await b.close();
  await clock.advance(5_000);
  await restoreStored(file(), copy(), clock.now());
  b = await startBeta(seed);
}

const unfreeze = (body?: object) => b.asOperator("POST", "/api/v1/admin/unfreeze", body);

/** Lets each relay send heartbeats, and waits for their effects. */
async function exchangeHeartbeats(times = 1): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    await clock.advance(60_000);
    await Promise.all([a.relay.tick(), b.relay.tick()]);
    await Promise.all([waitForHeartbeat(a), waitForHeartbeat(b)]);
  }
}

/** Waits until a relay that is not frozen has received its peer's heartbeat of this minute. */
async function waitForHeartbeat(site: TestSite): Promise<void> {
  const frozen = await site.asOperator("GET", "/metrics");
  if (frozen.text.includes("agent_relay_frozen 1")) return;
  await waitUntil(
    async () => (await getPeer(site)).last_heartbeat_at === clock.now(),
    "a heartbeat",
  );
}

async function metricOf(site: TestSite, name: string): Promise<number> {
  const { text } = await site.asOperator("GET", "/metrics");
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
}

/** Completes a task of alpha at beta whose result alpha accepts. */
async function doTask(): Promise<void> {
  const { body } = await submitToBest(a, boss);
  await completeTask(b, worker, await waitForTask(b, worker, String(body["task_id"])));
  await waitUntil(() => a.listLogged("receipt.verified").length > 0, "the result comes back");
}

/** Runs the jobs of both relays until a balance is reached. */
const settleAll = (balance: () => Promise<number>, expected: number) =>
  waitUntil(async () => {
    if ((await balance()) === expected) return true;
    await clock.advance(60_000);
    await Promise.all([a.relay.tick(), b.relay.tick()]);
    return false;
  }, "it is settled");

/** Returns the only settlement in a relay's outbox. */
async function outboxOf(site: TestSite): Promise<Record<string, unknown>> {
  const { body } = await site.asOperator("GET", "/api/v1/admin/federation/outbox");
  return (body["settlements"] as Record<string, unknown>[])[0] ?? {};
}

const firstAttemptLost = (site: TestSite) =>
  waitUntil(
    async () => typeof (await outboxOf(site))["last_error"] === "string",
    "the first attempt is lost",
  );

const paid = () =>
  waitUntil(async () => (await b.getBalance(worker)) === 0.9025, "the worker is paid");

describe("A8: restored relays", () => {
  test("a relay that was restored from a backup pays nothing twice, and pays its worker what the backup lacked", async () => {
    const saver = await b.createAgent();
    await b.deposit(saver, 5);
    const asked = await b.as(saver, "POST", `/api/v1/agents/${saver.agentId}/withdrawals`, {
      amount: 5,
      destination: "an account",
    });
    const withdrawalId = String(asked.body["withdrawal_id"]);
    chooseAction = (path) => (path.includes("/settlement") ? "refuse" : "pass");
    await doTask();
    await firstAttemptLost(a);
    await backUp();

    chooseAction = () => "pass";
    await clock.advance(30_000);
    await a.relay.tick();
    await paid();
    const complete = () =>
      b.asOperator("POST", `/api/v1/admin/withdrawals/${withdrawalId}/complete`, {
        payout_reference: "wire 1",
      });
    expect(await complete()).toMatchObject({ status: 200 });
    await settleAll(() => a.getBalance(boss), 9);

    await restoreBeta();
    const restoredAt = Math.floor(clock.now() / 1_000);
    expect((await b.request("GET", "/health")).body).toEqual({
      status: "ok",
      incarnation: restoredAt,
    });
    expect((await b.request("GET", "/federation/v1/identity")).body).toMatchObject({
      incarnation: restoredAt,
    });
    expect(b.listLogged("relay.restored")).toMatchObject([
      { level: "warn", incarnation: restoredAt },
    ]);
    expect(b.listLogged("relay.restored.withdrawal_pending")).toMatchObject([
      { withdrawal_id: withdrawalId, amount: 5, destination: "an account" },
    ]);
    expect(b.listLogged("relay.restored.peer_to_compare")).toMatchObject([
      { relay_id: a.relayId, position: -0.95, under_way: true },
    ]);
    expect(await complete()).toMatchObject({ status: 503, body: { code: "server.frozen" } });
    expect(await b.getBalance(worker)).toBe(0);

    for (const body of [undefined, {}, { restored: false }]) {
      const refused = await unfreeze(body);
      expect(refused).toMatchObject({ status: 400, body: { code: "request.invalid" } });
      expect(refused.text).toContain('"path":"restored"');
    }
    expect(await complete()).toMatchObject({ status: 503 });
    expect(await unfreeze({ restored: true })).toMatchObject({ status: 200 });
    await clock.advance(1_000);
    await b.relay.tick();
    await paid();
    expect(await a.getBalance(boss)).toBe(9);
    expect(await getPeerPositions(a)).toEqual({ [b.relayId]: 0.95 });
    expect(await getPeerPositions(b)).toEqual({ [a.relayId]: -0.95 });
    for (const site of [a, b]) {
      expect(await getReconciliation(site)).toMatchObject({ consistent: true });
    }
    await exchangeHeartbeats(2);
    expect(a.listLogged("federation.peer.restored")).toMatchObject([{ incarnation: restoredAt }]);
    for (const site of [a, b]) expect(site.listLogged("federation.position_differs")).toEqual([]);
    expect(await b.getBalance(worker)).toBe(0.9025);
  });

  test("a restored relay sends a settlement again that was in flight during the backup, and pays it once", async () => {
    const [payer, earner] = [await b.createAgent(), await a.createWorker(1, "translate")];
    await b.deposit(payer, 10);
    const { body } = await submitToBest(b, payer, { capability: "translate" });
    const task = await waitForTask(a, earner, String(body["task_id"]));
    chooseAction = () => "pass";
    chooseAction = (path) => (path.includes("/settlement") ? "refuse" : "pass");
    await completeTask(a, earner, task);
    await firstAttemptLost(b);
    await backUp();
    expect(await b.getBalance(payer)).toBe(8.8);
    chooseAction = () => "pass";
    await settleAll(() => b.getBalance(payer), 9);
    expect(await a.getBalance(earner)).toBe(0.9025);

    await restoreBeta();
    await unfreeze({ restored: true });
    await settleAll(() => b.getBalance(payer), 9);
    expect(await a.getBalance(earner)).toBe(0.9025);
    expect(await getPeerPositions(a)).toEqual({ [b.relayId]: -0.95 });
    expect(await getPeerPositions(b)).toEqual({ [a.relayId]: 0.95 });
    for (const site of [a, b])
      expect(await getReconciliation(site)).toMatchObject({ consistent: true });
  });

  test("a restored relay learns of a lost task by the positions at both sides, even while frozen", async () => {
    await exchangeHeartbeats();
    await backUp();
    await doTask();
    await paid();
    await waitUntil(async () => (await a.getBalance(boss)) === 9, "alpha has settled");
    await exchangeHeartbeats(2);
    for (const site of [a, b]) expect(site.listLogged("federation.position_differs")).toEqual([]);

    await restoreBeta();
    // The first position may have been stated before the last settlement, so a second one is needed.
    await exchangeHeartbeats(2);
    for (const [site, own] of [
      [a, 0.95],
      [b, 0],
    ] as const) {
      await waitUntil(() => site.listLogged("federation.position_differs").length > 0, "an alarm");
      expect(site.listLogged("federation.position_differs")).toMatchObject([
        { level: "error", own, difference: 0.95 },
      ]);
      expect(await metricOf(site, "agent_relay_federation_positions_differing")).toBe(1);
    }
    await exchangeHeartbeats(3);
    for (const site of [a, b])
      expect(site.listLogged("federation.position_differs")).toHaveLength(1);

    // The operators agree on the loss: an external payment of the same amount ends the alarm.
    const settle = `/api/v1/admin/federation/peers/${b.relayId}/settle`;
    await a.asOperator("POST", settle, { amount: 0.95, direction: "sent", reference: "lost task" });
    await exchangeHeartbeats(2);
    // A heartbeat is stored before its position is compared.
    await waitUntil(
      () => a.listLogged("federation.position_agrees").length === 1,
      "the alarm ends",
    );
    expect(await metricOf(a, "agent_relay_federation_positions_differing")).toBe(0);
  });
});

describe("A8: while a relay is frozen", () => {
  const freeze = () => b.asOperator("POST", "/api/v1/admin/freeze", { reason: "an audit" });

  test("heartbeats continue both ways, so that neither side removes the other", async () => {
    await freeze();
    const before = await getPeer(b);
    await exchangeHeartbeats(10);
    expect(await getPeer(a)).toMatchObject({ state: "active", missed_heartbeats: 0 });
    expect(await getPeer(b)).toEqual(before);
    await unfreeze();
    await exchangeHeartbeats();
    expect(await getPeer(b)).toMatchObject({ state: "active", missed_heartbeats: 0 });
    await doTask();
    await paid();
  });

  test("a settlement uses up none of its attempts, even for hours, is paid afterwards, and is not a default", async () => {
    chooseAction = (path) => (path.includes("/settlement") ? "refuse" : "pass");
    await doTask();
    const outbox = () => outboxOf(a);
    await firstAttemptLost(a);
    chooseAction = () => "pass";
    await freeze();
    // This is longer than the hold would have lasted, and longer than all six attempts take.
    for (let hour = 0; hour < 9; hour += 3) {
      await clock.advance(3 * 3_600_000);
      await Promise.all([a.relay.tick(), b.relay.tick()]);
      await waitForHeartbeat(a);
      await waitUntil(async () => {
        const { attempts, next_attempt_at } = await outbox();
        return attempts === 1 && Number(next_attempt_at) > clock.now();
      }, "the attempt ends");
      expect(await outbox()).toMatchObject({ state: "pending", last_error: "server.frozen" });
    }
    expect(await b.getBalance(worker)).toBe(0);
    await unfreeze();
    await clock.advance(120_000);
    await Promise.all([a.relay.tick(), b.relay.tick()]);
    await paid();
    // The answer may have been lost on the way, if the machine is busy; the next attempt brings it.
    const charged = { stepMs: 60_000, what: "the payer is charged" };
    await advanceUntil(clock, [a, b], charged, async () => (await a.getBalance(boss)) === 9);
    expect(b.listLogged("federation.settlement.defaulted")).toEqual([]);
  });
});

test("A9: a default counts once, even if a restored relay sends the result again in vain", async () => {
  chooseAction = (path) => (path.includes("/settlement") ? "refuse" : "pass");
  await doTask();
  const defaults = () => b.listLogged("federation.settlement.defaulted").length;
  await waitUntil(async () => {
    if (defaults() > 0) return true;
    await clock.advance(600_000);
    await Promise.all([a.relay.tick(), b.relay.tick()]);
    return false;
  }, "alpha defaults");
  await backUp();
  chooseAction = (path) => (path.startsWith("/federation") ? "refuse" : "pass");
  await restoreBeta();
  await unfreeze({ restored: true });
  for (let days = 0; days < 40; days += 1) {
    await clock.advance(86_400_000);
    await b.relay.tick();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  expect(defaults()).toBe(0);
  const { body } = await b.asOperator("GET", `/api/v1/agents/${b.relayId}/trust/${a.relayId}`);
  expect(body).toMatchObject({ failed_tasks: 1 });
  expect(await getPeer(b)).toMatchObject({ defaulted: 0.95 });
});

test("A8: a freeze of a task's origin extends the time in which its result is accepted by its own duration", async () => {
  const { body } = await submitToBest(a, boss);
  const task = await waitForTask(b, worker, String(body["task_id"]));
  await a.asOperator("POST", "/api/v1/admin/freeze", { reason: "an audit" });
  await completeTask(b, worker, task);
  await waitUntil(
    () => b.listLogged("federation.result.returned").length > 0,
    "alpha takes nothing",
  );
  await clock.advance(20 * 60_000);
  await a.asOperator("POST", "/api/v1/admin/unfreeze");
  await settleAll(() => b.getBalance(worker), 0.9025);
  await settleAll(() => a.getBalance(boss), 9);
  for (const site of [a, b])
    expect(await getReconciliation(site)).toMatchObject({ consistent: true });
});

test("A8: a frozen relay lists the settlements that it has booked, and accepts none", async () => {
  const t = await startTestRelay(federated);
  const other = await createFakePeer(t).completeHandshake();
  const { settlement, taskId } = await completeTaskOfPeer(t, other);
  const body = other.createSettlement(settlement);
  expect(await other.post("/federation/v1/settlement/forward", body)).toMatchObject({
    status: 200,
  });
  await t.asOperator("POST", "/api/v1/admin/freeze", { reason: "an audit" });
  const listed = await other.get(`/federation/v1/settlements?task_id=${taskId}`);
  expect(listed).toMatchObject({ status: 200, body: { settlements: [{ task_id: taskId }] } });
  expect(await other.post("/federation/v1/settlement/forward", body)).toMatchObject({
    status: 503,
    body: { code: "server.frozen" },
  });
  expect(await other.heartbeat()).toMatchObject({ status: 200 });
  await t.close();
});
