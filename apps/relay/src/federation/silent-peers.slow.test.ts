import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { leaveFees } from "../../test/network/leave-fees.ts";
import type { ProxyAction } from "../../test/network/lossy-proxy.ts";
import {
  addPeer,
  advanceUntil,
  closeSites,
  completeTask,
  getReconciliation,
  startSite,
  startTwoSites,
  submitToBest,
  waitForTask,
  waitUntil,
  type TestSite,
  type TwoSites,
  getPeer,
} from "../../test/network/network.ts";

let chooseAction: (path: string) => ProxyAction;
let scene: TwoSites;
let [a, b] = [] as unknown as [TestSite, TestSite];
let boss: TestAgent;
let worker: TestAgent;

/** Beta works for alpha, with credit for one task of 0.95 and not for two. */
beforeEach(async () => {
  chooseAction = () => "pass";
  scene = await startTwoSites({
    chooseAction: (path) => chooseAction(path),
    beta: { AGENT_FEDERATION_CREDIT_LIMIT: "1.5" },
  });
  ({ a, b, boss, worker } = scene);
});
afterEach(() => closeSites([a, b], scene.proxies));

const pass = (what: string, done: () => Promise<boolean> | boolean) =>
  advanceUntil(scene.clock, [a, b], { stepMs: 600_000, what }, done);

const withoutResults = (path: string): ProxyAction =>
  path.includes("/task/result") ? "refuse" : "pass";

async function metricAtBeta(): Promise<string | undefined> {
  const { text } = await b.asOperator("GET", "/metrics");
  return /^agent_relay_federation_undecided_usd (\S+)$/m.exec(text)?.[1];
}

async function holdAtBeta(taskId: string): Promise<string> {
  const { body } = await b.asOperator("GET", `/agent/${worker.agentId}/task/${taskId}`);
  return (body["peer"] as { hold: string }).hold;
}

/** Completes a task whose result never reaches alpha, until the hold for it has expired. */
async function completeUnanswered(): Promise<string> {
  const taskId = String((await submitToBest(a, boss)).body["task_id"]);
  await completeTask(b, worker, await waitForTask(b, worker, taskId));
  await pass("the hold expires", async () => (await holdAtBeta(taskId)) === "released");
  return taskId;
}

const countRefusals = () =>
  b.listLogged("federation.task.refused").filter(({ code }) => code === "clearing.limit_exceeded")
    .length;

describe("FE26: a peer that never answers results", () => {
  test("FE26: a peer that never answers results gets no more work than its credit, and the operator sees it", async () => {
    chooseAction = withoutResults;
    const taskId = await completeUnanswered();
    expect((await submitToBest(a, boss)).status).toBe(201);
    await waitUntil(() => countRefusals() > 0, "the next task is refused");
    expect(await getPeer(b)).toMatchObject({ undecided: 0.95, defaulted: 0, position: 0 });
    expect(b.listLogged("federation.result.unanswered")).toMatchObject([
      { level: "error", correlationId: taskId, relay_id: a.relayId, amount: 0.95 },
    ]);
    expect(await metricAtBeta()).toBe("0.95");
    expect(await getReconciliation(b)).toMatchObject({ consistent: true, totals: { holds: 0 } });
  });

  test("FE26: a peer that answers again regains its credit", async () => {
    chooseAction = withoutResults;
    await completeUnanswered();
    chooseAction = () => "pass";
    await pass("alpha answers", async () => (await getPeer(b)).undecided === 0);
    const { body } = await submitToBest(a, boss);
    const task = await waitForTask(b, worker, String(body["task_id"]));
    expect((await completeTask(b, worker, task)).status).toBe(200);
    await waitUntil(async () => (await b.getBalance(worker)) === 0.9025, "the worker is paid");
    expect(await getReconciliation(b)).toMatchObject({ consistent: true, totals: { holds: 0 } });
  });
});

test("FE26: routing prefers a dearer peer to one that lets the tasks of payers with fees expire", async () => {
  const gamma = await startSite({ name: "gamma", clock: scene.clock, seed: 3 });
  await addPeer(a, gamma);
  const dearer = await gamma.createWorker(1.1);
  await leaveFees(a, boss);
  const chooseExecutor = async () => {
    const { body } = await submitToBest(a, boss);
    const { selected_agent } = body["routing_choice"] as { selected_agent: string };
    return { selected_agent, path: `/agent/${boss.agentId}/task/${String(body["task_id"])}` };
  };
  let chosen = await chooseExecutor();
  expect(chosen.selected_agent).toBe(worker.agentId);
  for (let round = 0; round < 3 && chosen.selected_agent === worker.agentId; round += 1) {
    const { path } = chosen;
    await pass("it expires", async () => (await a.as(boss, "GET", path)).status === 404);
    chosen = await chooseExecutor();
  }
  expect(chosen.selected_agent).toBe(dearer.agentId);
  await gamma.close();
});
