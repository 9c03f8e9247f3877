import { createReceipt, type TestAgent } from "@agent/testkit";
import type { Task } from "@agent/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  getReconciliation,
  addPeer,
  getPeerPositions,
  startNetwork,
  submitToBest,
  waitForTask,
  waitUntil,
  completeTask,
  type TestSite,
} from "../../test/network/network.ts";
import type { Reply } from "../../test/test-relay.ts";

type Network = Awaited<ReturnType<typeof startNetwork>>;

let network: Network;
let [home, partner, squatting] = [] as unknown as [TestSite, TestSite, TestSite];
let boss: TestAgent;
/** An id with another key at the squatter's relay, which is not yet registered at home. */
let honest: TestAgent;
let squatter: TestAgent;
beforeEach(async () => {
  network = await startNetwork(["home", "partner", "squatting"], []);
  [home, partner, squatting] = network.sites as [TestSite, TestSite, TestSite];
  // The squatter's relay started the peering: home gives it credit, but never names it.
  await addPeer(squatting, home);
  await home.asOperator("PUT", `/api/v1/admin/federation/peers/${squatting.relayId}`, {
    credit_limit: 100,
  });
  boss = await home.createAgent();
  await home.deposit(boss, 10);
  squatter = await squatting.createWorker(1);
  honest = { ...home.createUnknownAgent(), agentId: squatter.agentId };
});
afterEach(() => network.close());

const bind = (site: TestSite, { agentId, publicKey }: TestAgent): Promise<Reply> =>
  site.request("POST", "/api/v1/agents/bootstrap", {
    body: { agent_id: agentId, public_key: publicKey },
  });

async function bound(site: TestSite, agent: TestAgent): Promise<TestAgent> {
  const { status, body } = await bind(site, agent);
  expect(status).toBe(201);
  return { ...agent, deviceId: String(body["device_id"]) };
}

/** Submits a task of the boss that an agent of another relay receives. */
async function forwarded(site: TestSite, worker: TestAgent): Promise<Task> {
  const { body, status } = await submitToBest(home, boss);
  expect(status).toBe(201);
  const taskId = String(body["task_id"]);
  const task = await waitForTask(site, worker, taskId);
  await waitUntil(async () => (await statusOf(taskId)) === "claimed", "the forward is known");
  return task;
}

async function statusOf(taskId: string): Promise<string> {
  const { body } = await home.as(boss, "GET", `/agent/${boss.agentId}/task/${taskId}`);
  return (body["task"] as Task).status;
}

async function finish(site: TestSite, worker: TestAgent, task: Task): Promise<void> {
  expect(await completeTask(site, worker, task)).toMatchObject({ status: 200 });
  await waitUntil(async () => (await statusOf(task.task_id)) === "completed", "the result is back");
  await waitUntil(async () => (await site.getBalance(worker)) > 0, "the worker is paid");
}

async function trustIn(agent: TestAgent): Promise<unknown> {
  const { body } = await home.as(boss, "GET", `/api/v1/agents/${boss.agentId}/trust`);
  const records = body["records"] as { remote_agent_id: string }[];
  return records.find(({ remote_agent_id }) => remote_agent_id === agent.agentId);
}

test("A4: work from a peer that was not admitted does not prevent the first binding of its agent's id here", async () => {
  await finish(squatting, squatter, await forwarded(squatting, squatter));
  await expect.poll(() => trustIn(squatter)).toMatchObject({ successful_tasks: 1 });
  const agent = await bound(home, honest);
  expect(await home.as(agent, "GET", `/api/v1/agents/${agent.agentId}/balance`)).toMatchObject({
    status: 200,
    body: { balance: 0 },
  });
});

test("A4: an agent does not inherit what another key has earned under its id at another relay", async () => {
  await finish(squatting, squatter, await forwarded(squatting, squatter));
  await bound(home, honest);
  expect(await trustIn(honest)).toBeUndefined();
  const closure = await home.request("GET", `/api/v1/agents/${boss.agentId}/trust/closure`);
  expect(JSON.stringify(closure.body)).not.toContain(honest.agentId);
});

test("A4: a delegator's block of an id remains when another key is bound to the id", async () => {
  await finish(squatting, squatter, await forwarded(squatting, squatter));
  const path = `/api/v1/agents/${boss.agentId}/trust/${squatter.agentId}`;
  expect(await home.as(boss, "PUT", path, { trust_level: "blocked" })).toMatchObject({
    status: 200,
  });
  await bound(home, honest);
  expect(await trustIn(honest)).toMatchObject({ trust_level: "blocked" });
});

test("A4: an agent that registers here under the key of its remote work retains its reputation", async () => {
  await finish(squatting, squatter, await forwarded(squatting, squatter));
  await bound(home, squatter);
  expect(await trustIn(squatter)).toMatchObject({ successful_tasks: 1 });
});

test("A4: work from an admitted peer prevents binding its agent's id to another key, even while the peer is down", async () => {
  await addPeer(home, partner);
  const worker = await partner.createWorker(1);
  await squatting.asOperator("DELETE", `/api/v1/agents/${squatter.agentId}`);
  await finish(partner, worker, await forwarded(partner, worker));
  await partner.stop();
  await network.clock.advance(700_000);
  const thief = { ...home.createUnknownAgent(), agentId: worker.agentId };
  expect(await bind(home, thief)).toMatchObject({
    status: 409,
    body: { code: "agent.key_changed" },
  });
  expect(await trustIn(worker)).toMatchObject({ successful_tasks: 1 });
  expect(await bind(home, worker)).toMatchObject({ status: 201 });
});

test("A4: a squatter's result in flight is paid as agreed and does not affect an agent that was bound meanwhile", async () => {
  const done = await forwarded(squatting, squatter);
  const failing = await forwarded(squatting, squatter);
  const agent = await bound(home, honest);

  // The local agent cannot deliver the task of the remote one either.
  for (const { task_id } of [done, failing]) {
    const path = `/agent/${boss.agentId}/task/${task_id}/result`;
    const receipt = createReceipt(agent, { ...done, task_id });
    expect((await home.as(agent, "POST", path, receipt)).status).toBeGreaterThanOrEqual(400);
    expect(await statusOf(task_id)).toBe("claimed");
  }

  await finish(squatting, squatter, done);
  const path = `/agent/${failing.agent_id}/task/${failing.task_id}/result`;
  await squatting.as(
    squatter,
    "POST",
    path,
    createReceipt(squatter, failing, { status: "failed" }),
  );
  await waitUntil(
    async () => (await statusOf(failing.task_id)) === "failed",
    "the failure is back",
  );

  expect(await home.getBalance(boss)).toBe(9);
  expect(await home.getBalance(agent)).toBe(0);
  expect(await getPeerPositions(home)).toMatchObject({ [squatting.relayId]: 0.95 });
  expect(await trustIn(agent)).toBeUndefined();
  expect((await getReconciliation(home)).consistent).toBe(true);
  const tasks = await home.as(agent, "GET", `/agent/${agent.agentId}/tasks`);
  expect(tasks.body).toMatchObject({ tasks: [] });
});

test("A4: tasks for an id go to the local agent as soon as it is bound to the id", async () => {
  const before = await forwarded(squatting, squatter);
  const agent = await bound(home, honest);
  const path = `/agent/${agent.agentId}/task`;
  const { body } = await home.as(boss, "POST", path, { prompt: "work" });
  const task = await waitForTask(home, agent, String(body["task_id"]));
  expect(await completeTask(home, agent, task)).toMatchObject({ status: 200 });
  expect(await trustIn(agent)).toMatchObject({ successful_tasks: 1 });
  await finish(squatting, squatter, before);
  expect(await trustIn(agent)).toMatchObject({ successful_tasks: 1, interaction_count: 1 });
});

test("A4: a peer that the operator removed no longer prevents a binding", async () => {
  await addPeer(home, partner);
  await squatting.asOperator("DELETE", `/api/v1/agents/${squatter.agentId}`);
  const worker = await partner.createWorker(1);
  await finish(partner, worker, await forwarded(partner, worker));
  await home.asOperator("DELETE", `/api/v1/admin/federation/peers/${partner.relayId}`);
  const other = { ...home.createUnknownAgent(), agentId: worker.agentId };
  expect(await bind(home, other)).toMatchObject({ status: 201 });
});
