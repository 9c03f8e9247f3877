import { verifyJson, hexToBytes } from "@agent/crypto";
import type { ManualClock, TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ProxyAction } from "../../test/network/lossy-proxy.ts";
import {
  getPeer,
  getReconciliation,
  submitToBest,
  waitForTask,
  waitUntil,
  completeTask,
  type TestSite,
  startTwoSites,
  closeSites,
  advanceUntil,
  type TwoSites,
} from "../../test/network/network.ts";

let clock: ManualClock;
let chooseAction: (path: string) => ProxyAction;
let proxies: TwoSites["proxies"];
let a: TestSite;
let b: TestSite;
let boss: TestAgent;
let worker: TestAgent;

/** Beta works for alpha, whose settlements do not arrive while `chooseAction` refuses them. */
beforeEach(async () => {
  chooseAction = () => "pass";
  const scene = await startTwoSites({
    chooseAction: (path) => chooseAction(path),
    beta: { AGENT_FEDERATION_CREDIT_LIMIT: "1.5" },
  });
  ({ clock, proxies, a, b, boss, worker } = scene);
});
afterEach(() => closeSites([a, b], proxies));

const PEERS_PATH = "/api/v1/admin/federation/peers";

const debtor = () => getPeer(b);

/** Completes a task whose result alpha accepts, and returns its id. */
async function accepted(): Promise<string> {
  const { body } = await submitToBest(a, boss);
  const taskId = String(body["task_id"]);
  await completeTask(b, worker, await waitForTask(b, worker, taskId));
  await waitUntil(async () => (await shown(taskId)).accepted !== null, "the result is accepted");
  return taskId;
}

interface Shown {
  readonly hold: string;
  readonly order: Record<string, unknown>;
  readonly accepted: Record<string, unknown> | null;
}

/** Reads what the operator of beta sees of alpha's task. */
async function shown(taskId: string): Promise<Shown> {
  const { body } = await b.asOperator("GET", `/agent/${worker.agentId}/task/${taskId}`);
  return body["peer"] as Shown;
}

const pass = (stepMs: number, what: string, done: () => Promise<boolean> | boolean) =>
  advanceUntil(clock, [a, b], { stepMs, what }, done);

const withoutSettlements = (path: string): ProxyAction =>
  path.includes("/settlement") ? "refuse" : "pass";

async function defaulted(): Promise<string> {
  chooseAction = withoutSettlements;
  const taskId = await accepted();
  await pass(
    600_000,
    "the hold lapses",
    () => b.listLogged("federation.settlement.defaulted").length > 0,
  );
  return taskId;
}

async function metricOf(name: string): Promise<number> {
  const { text } = await b.asOperator("GET", "/metrics");
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
}

const keyOf = async (site: TestSite) =>
  hexToBytes(String((await site.request("GET", "/federation/v1/identity")).body["public_key"]));

describe("A9: a peer that accepts a result and does not settle", () => {
  test("a default is logged, counted as owed, and recorded as one failed outcome of that peer", async () => {
    const taskId = await defaulted();
    expect(b.listLogged("federation.settlement.defaulted")).toMatchObject([
      { level: "error", correlationId: taskId, relay_id: a.relayId, amount: 0.95 },
    ]);
    expect(await debtor()).toMatchObject({ defaulted: 0.95, position: 0 });
    expect(await metricOf("agent_relay_federation_defaulted_usd")).toBe(0.95);
    expect((await shown(taskId)).hold).toBe("defaulted");
    expect(await getReconciliation(b)).toMatchObject({ consistent: true, totals: { holds: 0 } });
    const { body } = await b.asOperator("GET", `/api/v1/agents/${b.relayId}/trust/${a.relayId}`);
    expect(body).toMatchObject({ failed_tasks: 1, successful_tasks: 0 });
  });

  test("a peer in default has less credit: its next paid task is refused until the operator clears the default", async () => {
    await defaulted();
    const refused = await submitToBest(a, boss);
    expect(refused.status).toBe(201);
    await waitUntil(
      () =>
        b
          .listLogged("federation.task.refused")
          .some(({ code }) => code === "clearing.limit_exceeded"),
      "the forward is refused",
    );
    const clear = `${PEERS_PATH}/${a.relayId}/clear-defaults`;
    const bad = await b.asOperator("POST", clear, { reason: "" });
    expect(bad).toMatchObject({ status: 400, body: { code: "request.invalid" } });
    expect(bad.text).toContain("reason");
    expect(await debtor()).toMatchObject({ defaulted: 0.95 });
    expect(await b.as(worker, "POST", clear, { reason: "mine" })).toMatchObject({ status: 403 });
    expect(await b.asOperator("POST", clear, { reason: "written off" })).toMatchObject({
      status: 200,
      body: { relay_id: a.relayId, cleared: 0.95, tasks: 1 },
    });
    expect(b.listLogged("federation.defaults.cleared")).toMatchObject([
      { relay_id: a.relayId, amount: 0.95, tasks: 1, reason: "written off" },
    ]);
    expect(await debtor()).toMatchObject({ defaulted: 0 });
    expect(await b.asOperator("POST", clear, { reason: "again" })).toMatchObject({
      body: { cleared: 0, tasks: 0 },
    });
    chooseAction = () => "pass";
    await submitToBest(a, boss);
    await waitForTask(b, worker);
  });

  test("a peer in default clears its default by a late settlement, which gives it no new credit", async () => {
    const taskId = await defaulted();
    const limit = await b.asOperator("PUT", `${PEERS_PATH}/${a.relayId}`, { credit_limit: 0.5 });
    expect(limit.status).toBe(200);
    const outbox = "/api/v1/admin/federation/outbox";
    await pass(600_000, "alpha gives up", async () => {
      const { body } = await a.asOperator("GET", `${outbox}?state=failed`);
      return (body["settlements"] as unknown[]).length === 1;
    });
    chooseAction = () => "pass";
    const { body } = await a.asOperator("GET", `${outbox}?state=failed`);
    const [entry] = body["settlements"] as { settlement_id: string }[];
    await a.asOperator("POST", `${outbox}/${String(entry?.settlement_id)}/retry`);
    await waitUntil(async () => (await b.getBalance(worker)) === 0.9025, "the worker is paid");
    expect(await debtor()).toMatchObject({ defaulted: 0, position: -0.95 });
    expect((await shown(taskId)).hold).toBe("settled");
    expect(b.listLogged("federation.settlement.default_settled")).toHaveLength(1);
    expect(await getReconciliation(b)).toMatchObject({ consistent: true });
  });

  test("a peer gains nothing if it accepts the result only after the hold has expired", async () => {
    chooseAction = (path) =>
      path.includes("/task/result") ? "lose-answer" : withoutSettlements(path);
    const { body } = await submitToBest(a, boss);
    const taskId = String(body["task_id"]);
    await completeTask(b, worker, await waitForTask(b, worker, taskId));
    const holdOf = async () => (await shown(taskId)).hold;
    await pass(600_000, "the hold lapses", async () => (await holdOf()) === "released");
    expect(b.listLogged("federation.settlement.defaulted")).toEqual([]);
    chooseAction = withoutSettlements;
    await pass(600_000, "the result is accepted", async () => (await holdOf()) === "due");
    expect(await debtor()).toMatchObject({ defaulted: 0 });
    await pass(600_000, "alpha defaults", async () => (await holdOf()) === "defaulted");
    expect(await debtor()).toMatchObject({ defaulted: 0.95 });
    expect(await getReconciliation(b)).toMatchObject({ consistent: true });
  });
});

describe("A9: settling peers", () => {
  test("a peer that settles never defaults, however long ago it settled", async () => {
    const taskId = await accepted();
    await waitUntil(async () => (await b.getBalance(worker)) === 0.9025, "the worker is paid");
    await pass(600_000, "a day passes", () => clock.now() > 1_760_000_000_000 + 86_400_000);
    expect(b.listLogged("federation.settlement.defaulted")).toEqual([]);
    expect(await debtor()).toMatchObject({ defaulted: 0, position: -0.95 });
    expect((await shown(taskId)).hold).toBe("settled");
  });

  test("a peer that settles leaves its signed order and its signed acceptance, which only the operator can read", async () => {
    const taskId = await accepted();
    const { order, accepted: acceptance } = await shown(taskId);
    expect(verifyJson(order, await keyOf(a))).toBe(true);
    expect(order).toMatchObject({
      task_id: taskId,
      origin_relay: a.relayId,
      budget: { amount: 0.95 },
    });
    expect(Object.keys(acceptance ?? {}).toSorted()).toEqual([
      "receipt_hash",
      "relay_id",
      "signature",
      "status",
      "suite",
      "task_id",
      "timestamp",
    ]);
    expect(acceptance).toMatchObject({ status: "accepted", task_id: taskId, relay_id: a.relayId });
    expect(verifyJson(acceptance ?? {}, await keyOf(a))).toBe(true);
    const { body } = await b.as(worker, "GET", `/agent/${worker.agentId}/task/${taskId}`);
    expect(body).not.toHaveProperty("peer");
  });
});
