import type { TestAgent } from "@agent/testkit";
import type { Task } from "@agent/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startHttpEndpoint } from "../../test/network/endpoint.ts";
import { createFakePeer } from "../../test/network/fake-peer.ts";
import type { ProxyAction } from "../../test/network/lossy-proxy.ts";
import {
  advanceUntil,
  closeSites,
  completeTask,
  getReconciliation,
  startTwoSites,
  submitToBest,
  waitForTask,
  waitUntil,
  type TestSite,
  type TwoSites,
} from "../../test/network/network.ts";

let actionOfForward: ProxyAction;
let scene: TwoSites;
let [a, b] = [] as unknown as [TestSite, TestSite];
let boss: TestAgent;
beforeEach(async () => {
  actionOfForward = "pass";
  const chooseAction = (path: string) =>
    path.endsWith("/task/forward") ? actionOfForward : ("pass" as const);
  scene = await startTwoSites({ chooseAction });
  ({ a, b, boss } = scene);
});
afterEach(() => closeSites([a, b], scene.proxies));

const pathOf = (taskId: string) => `/agent/${boss.agentId}/task/${taskId}`;
const readTask = async (taskId: string) =>
  (await a.as(boss, "GET", pathOf(taskId))).body["task"] as Task;

/** Submits a task at alpha whose first forward to beta ends in the given way, which alpha does not learn. */
async function submitWithoutAnswer(action: ProxyAction): Promise<string> {
  actionOfForward = action;
  const submitted = await submitToBest(a, boss);
  expect(submitted.status).toBe(201);
  await waitUntil(() => a.listLogged("federation.task.forward").length === 1, "the forward fails");
  actionOfForward = "pass";
  return String(submitted.body["task_id"]);
}

/** Uses a task id at beta for a free task of a third relay. */
async function takeId(taskId: string): Promise<void> {
  const thief = await createFakePeer(b).completeHandshake();
  const { agentId: target_agent } = await b.createWorker(0, "greet");
  const taken = await thief.forward({
    task_id: taskId,
    target_agent,
    task_payload: { prompt: "mine" },
    budget: { amount: 0, currency: "USD" },
  });
  expect(taken.status).toBe(202);
}

const sendAgain = () =>
  advanceUntil(
    scene.clock,
    [a, b],
    { stepMs: 10_000, what: "the forward is sent again" },
    () => a.listLogged("federation.task.forward").length > 1,
  );

test("FE25: a task whose id a third party has taken at the peer waits here again and can be cancelled at once", async () => {
  const taskId = await submitWithoutAnswer("refuse");
  await takeId(taskId);
  await sendAgain();
  // The only executor is tried once more at once.
  await waitUntil(() => a.listLogged("federation.task.forward").length === 3, "it is tried again");
  await a.relay.idle();
  expect(await readTask(taskId)).toMatchObject({ status: "pending" });
  expect(a.listLogged("federation.task.forward")[2]).toMatchObject({ code: "forward.id_taken" });
  expect((await a.as(boss, "POST", `${pathOf(taskId)}/cancel`)).status).toBe(200);
  expect(await a.getBalance(boss)).toBe(10);
  expect(await getReconciliation(a)).toMatchObject({ consistent: true, totals: { holds: 0 } });
});

test("FE25: a task whose id a third party has taken at the peer goes to the next executor", async () => {
  const dearer = await a.createWorker(1.1);
  const taskId = await submitWithoutAnswer("refuse");
  const { assigned_to } = await readTask(taskId);
  expect(assigned_to).toBe(scene.worker.agentId);
  // An endpoint that fails would send the task back to the peer at once.
  const endpoint = await startHttpEndpoint(() => {});
  await a.as(dearer, "POST", "/api/v1/agents/register", {
    agent_id: dearer.agentId,
    endpoint_url: endpoint.url,
    capabilities: ["summarise"],
  });
  await takeId(taskId);
  await sendAgain();
  await waitUntil(() => endpoint.requests.length > 0, "the task is sent to the next executor");
  const task = await readTask(taskId);
  expect(task).toMatchObject({ assigned_to: dearer.agentId });
  expect(await completeTask(a, dearer, task)).toMatchObject({ status: 200 });
  await endpoint.close();
  expect(await a.getBalance(boss)).toBe(8.9);
  expect(await getReconciliation(a)).toMatchObject({ consistent: true, totals: { holds: 0 } });
});

test("FE25: a task that the peer has taken from this relay stays there when it is sent again, and is paid", async () => {
  const taskId = await submitWithoutAnswer("lose-answer");
  await sendAgain();
  expect(a.listLogged("federation.task.forward")[1]).toMatchObject({ code: "forward.duplicate" });
  expect(await readTask(taskId)).toMatchObject({ status: "claimed" });
  const task = await waitForTask(b, scene.worker, taskId);
  expect((await completeTask(b, scene.worker, task)).status).toBe(200);
  await waitUntil(async () => (await b.getBalance(scene.worker)) === 0.9025, "the worker is paid");
  await waitUntil(async () => (await a.getBalance(boss)) === 9, "the payer is charged");
});
