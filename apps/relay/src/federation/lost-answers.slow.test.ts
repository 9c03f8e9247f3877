import { sha256Hex } from "@agent/crypto";
import { createSeededRandom, type ManualClock, type TestAgent } from "@agent/testkit";
import { verifyArtifact } from "@agent/verify";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ProxyAction } from "../../test/network/lossy-proxy.ts";
import {
  getReconciliation,
  getPeerPositions,
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
import { OPERATOR_TOKEN } from "../../test/test-relay.ts";

let clock: ManualClock;
let chooseAction: (path: string) => ProxyAction;
let proxies: TwoSites["proxies"];
let a: TestSite;
let b: TestSite;
let boss: TestAgent;
let worker: TestAgent;

beforeEach(async () => {
  chooseAction = () => "pass";
  const env = {
    AGENT_FEDERATION_CREDIT_LIMIT: "100000",
    AGENT_TASK_TTL_MS: "86400000",
    // The fee of one task is enough.
    AGENT_TRUST_FEES_VERIFIED: "0.01",
  };
  const scene = await startTwoSites({
    chooseAction: (path) => chooseAction(path),
    alpha: env,
    beta: env,
    deposit: 1_000,
  });
  ({ clock, proxies, a, b, boss, worker } = scene);
});
afterEach(() => closeSites([a, b], proxies));

/** Runs the jobs of both relays until a condition holds, for hours of clock time if necessary. */
function settleEverything(done: () => Promise<boolean>, stepMs = 30_000): Promise<boolean> {
  return advanceUntil(clock, [a, b], { stepMs, what: "everything is settled" }, done);
}

const outbox = async (state: string) => {
  const path = `/api/v1/admin/federation/outbox?state=${state}&limit=200`;
  const { body } = await a.asOperator("GET", path);
  return body["settlements"] as { settlement_id: string; state: string; refunded: boolean }[];
};

/** Sums the money at both relays, without external accounts. */
async function moneyOf(): Promise<number> {
  const books = await Promise.all([getReconciliation(a), getReconciliation(b)]);
  const micro = books.flatMap(({ totals }) =>
    ["balances", "holds", "fees", "peers"].map((kind) => Math.round((totals[kind] ?? 0) * 1e6)),
  );
  return micro.reduce((sum, each) => sum + each, 0) / 1e6;
}

test("FE17 each of 200 tasks is paid exactly once while every fifth answer is lost", async () => {
  const random = createSeededRandom(17);
  chooseAction = (path) =>
    path.startsWith("/federation/v1/discover") || random.next() >= 0.2 ? "pass" : "lose-answer";
  const before = await moneyOf();
  const ids: string[] = [];
  for (let round = 0; round < 20; round += 1) {
    const submitted = await Promise.all(Array.from({ length: 10 }, () => submitToBest(a, boss)));
    ids.push(...submitted.map(({ body }) => String(body["task_id"])));
  }
  expect(new Set(ids).size).toBe(200);
  const done = new Set<string>();
  await settleEverything(async () => {
    const path = `/agent/${worker.agentId}/tasks?status=pending&limit=200`;
    const { body } = await b.as(worker, "GET", path);
    for (const task of body["tasks"] as Parameters<typeof completeTask>[2][]) {
      if ((await completeTask(b, worker, task)).status === 200) done.add(task.task_id);
    }
    const paid = await outbox("completed");
    return done.size === 200 && paid.length === 200;
  });

  expect(proxies.reduce((sum, proxy) => sum + proxy.countLost(), 0)).toBeGreaterThan(60);
  expect(await a.getBalance(boss)).toBe(800);
  expect(await b.getBalance(worker)).toBe(180.5);
  expect(await getPeerPositions(a)).toEqual({ [b.relayId]: 190 });
  expect(await getPeerPositions(b)).toEqual({ [a.relayId]: -190 });
  const books = await Promise.all([getReconciliation(a), getReconciliation(b)]);
  expect(books).toMatchObject([
    { consistent: true, totals: { holds: 0, fees: 10 } },
    { consistent: true, totals: { holds: 0, fees: 9.5 } },
  ]);
  expect(await moneyOf()).toBe(before);
  const { body } = await b.asOperator(
    "GET",
    `/api/v1/agents/${worker.agentId}/settlements?limit=200`,
  );
  const tasks = (body["settlements"] as { task_id: string }[]).map(({ task_id }) => task_id);
  expect(new Set(tasks)).toEqual(new Set(ids));
});

describe("FE17 a settlement whose answers are all lost", () => {
  const settle = async () => {
    await submitToBest(a, boss);
    await completeTask(b, worker, await waitForTask(b, worker));
    await waitUntil(async () => (await outbox("pending")).length === 1, "the settlement begins");
  };

  test("a settlement whose answers are all lost is looked up at the peer, found as paid and not refunded", async () => {
    chooseAction = (path) => (path.includes("/settlement/forward") ? "lose-answer" : "pass");
    await settle();
    await settleEverything(async () => (await outbox("completed")).length === 1, 600_000);
    expect([await a.getBalance(boss), await b.getBalance(worker)]).toEqual([999, 0.9025]);
    expect(a.listLogged("settlement.retry.refunded")).toEqual([]);
  });

  test("a settlement that never arrived in any attempt is refunded once, and is not paid later", async () => {
    chooseAction = (path) => (path.includes("/settlement/forward") ? "refuse" : "pass");
    await settle();
    await settleEverything(async () => (await outbox("failed")).length === 1, 600_000);
    expect([await a.getBalance(boss), await b.getBalance(worker)]).toEqual([1_000, 0]);
    expect(await outbox("failed")).toMatchObject([{ state: "failed", refunded: true }]);
    expect(a.listLogged("settlement.retry.refunded")).toMatchObject([{ service: "federation" }]);
    chooseAction = () => "pass";
    await settleEverything(
      async () => (await getReconciliation(b)).totals["holds"] === 0,
      3_600_000,
    );
    expect([await a.getBalance(boss), await b.getBalance(worker)]).toEqual([1_000, 0]);
    expect([await getPeerPositions(a), await getPeerPositions(b)]).toEqual([
      { [b.relayId]: 0 },
      { [a.relayId]: 0 },
    ]);
  });

  test("a settlement is held for the operator, who may retry it, when it cannot be looked up", async () => {
    let broken = true;
    chooseAction = (path) => (broken && path.includes("/settlement") ? "lose-answer" : "pass");
    await settle();
    await settleEverything(async () => (await outbox("failed")).length === 1, 600_000);
    const [held] = await outbox("failed");
    expect(held).toMatchObject({ refunded: false });
    expect(await getReconciliation(a)).toMatchObject({ consistent: true, totals: { holds: 1.2 } });
    broken = false;
    const path = `/api/v1/admin/federation/outbox/${held?.settlement_id}/retry`;
    expect(await a.asOperator("POST", path)).toMatchObject({ status: 200 });
    await settleEverything(async () => (await outbox("completed")).length === 1);
    expect([await a.getBalance(boss), await b.getBalance(worker)]).toEqual([999, 0.9025]);
  });
});

describe("A6: a forwarded task is a success only once its settlement is paid", () => {
  interface Counted {
    readonly interaction_count: number;
    readonly successful_tasks: number;
    readonly failed_tasks: number;
  }

  const recordOf = async (site: TestSite, holder: string, of: string): Promise<Counted> => {
    const { body } = await site.asOperator("GET", `/api/v1/agents/${holder}/trust/${of}`);
    const { interaction_count, successful_tasks, failed_tasks } = body as unknown as Counted;
    return { interaction_count, successful_tasks, failed_tasks };
  };

  /** Reads the trust of the payer and its relay, and the history at the peer. */
  const known = async () => {
    const path = "/api/v1/market/candidates?capability=summarise";
    const { body } = await b.as(await b.createAgent(), "GET", path);
    const [first] = body["candidates"] as { sub_scores: { success_rate: number } }[];
    return {
      ofWorker: await recordOf(a, boss.agentId, worker.agentId),
      ofPeer: await recordOf(a, a.relayId, b.relayId),
      rate: first?.sub_scores.success_rate,
    };
  };

  const interaction = { interaction_count: 1, successful_tasks: 0, failed_tasks: 0 };
  const success = { ...interaction, successful_tasks: 1 };

  const deliver = async () => {
    await submitToBest(a, boss);
    await completeTask(b, worker, await waitForTask(b, worker));
    await waitUntil(
      async () => a.listLogged("receipt.verified").length === 1,
      "the receipt arrives",
    );
  };

  test("A6: a task counts as an interaction until its settlement is paid, and then as a success at both relays", async () => {
    chooseAction = (path) => (path.includes("/settlement/forward") ? "refuse" : "pass");
    await deliver();
    expect(await known()).toEqual({ ofWorker: interaction, ofPeer: interaction, rate: 0.5 });
    chooseAction = () => "pass";
    await settleEverything(async () => (await outbox("completed")).length === 1);
    expect(await known()).toEqual({ ofWorker: success, ofPeer: success, rate: 1 });
  });

  test("A6: a task whose settlement is refunded counts only as an interaction", async () => {
    chooseAction = (path) => (path.includes("/settlement/forward") ? "refuse" : "pass");
    await deliver();
    await settleEverything(async () => (await outbox("failed")).length === 1, 600_000);
    expect(await known()).toEqual({ ofWorker: interaction, ofPeer: interaction, rate: 0.5 });
  });

  test("A6: a task counts once even if all answers to its settlement are lost", async () => {
    chooseAction = (path) => (path.includes("/settlement/forward") ? "lose-answer" : "pass");
    await deliver();
    await settleEverything(async () => (await outbox("completed")).length === 1, 600_000);
    expect(await known()).toEqual({ ofWorker: success, ofPeer: success, rate: 1 });
  });
});

test("B13: the texts of a peer's task cannot be erased before its result was sent back", async () => {
  chooseAction = (path) => (path === "/federation/v1/task/result" ? "refuse" : "pass");
  await submitToBest(a, boss);
  const task = await waitForTask(b, worker);
  expect(await completeTask(b, worker, task)).toMatchObject({ status: 200 });
  const texts = `/api/v1/admin/tasks/${task.task_id}/texts`;
  expect(await b.asOperator("DELETE", texts)).toMatchObject({
    status: 409,
    body: { code: "task.not_finished" },
  });
  chooseAction = () => "pass";
  await settleEverything(async () => (await b.getBalance(worker)) > 0);
  expect(await b.asOperator("DELETE", texts)).toMatchObject({ status: 200 });
  const kept = await b.asOperator("GET", `/agent/${worker.agentId}/task/${task.task_id}`);
  expect(kept.text).toContain(sha256Hex(task.prompt));
  expect(kept.text).not.toContain(task.prompt);
  expect(await a.as(boss, "DELETE", texts)).toMatchObject({ status: 200 });
  for (const [site, agent] of [
    [a, boss],
    [b, worker],
  ] as const) {
    const path = `/agent/${agent.agentId}/task/${task.task_id}/evidence`;
    const { text } = await site.request("GET", path, { token: OPERATOR_TOKEN });
    expect(verifyArtifact(text)).toMatchObject({ code: "bundle.erased" });
  }
});

test("B13: the texts of a peer's task are not erased before the peer has settled it", async () => {
  chooseAction = (path) => (path.startsWith("/federation/v1/settlement") ? "refuse" : "pass");
  await submitToBest(a, boss);
  const task = await waitForTask(b, worker);
  expect(await completeTask(b, worker, task)).toMatchObject({ status: 200 });
  const path = `/agent/${boss.agentId}/tasks?submitted_by=me`;
  await settleEverything(async () => (await a.as(boss, "GET", path)).text.includes('"completed"'));
  const texts = `/api/v1/admin/tasks/${task.task_id}/texts`;
  // If a backup of this moment is restored, the peer receives the result again with its signature.
  expect(await b.asOperator("DELETE", texts)).toMatchObject({
    status: 409,
    body: { code: "task.not_finished" },
  });
  chooseAction = () => "pass";
  await settleEverything(async () => (await b.getBalance(worker)) > 0);
  expect(await b.asOperator("DELETE", texts)).toMatchObject({ status: 200 });
});
