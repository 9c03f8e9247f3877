import { receiptOf, type TestAgent } from "@agent/testkit";
import type { Task } from "@agent/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  booksOf,
  peer,
  positionsOf,
  startNetwork,
  submitFor,
  taskFor,
  until,
  work,
  type Site,
} from "../../test/network.ts";
import type { Reply } from "../../test/test-relay.ts";

type Network = Awaited<ReturnType<typeof startNetwork>>;

let network: Network;
let [home, partner, squatting] = [] as unknown as [Site, Site, Site];
let boss: TestAgent;
/** Has an id under another key at the squatter's relay, and did not come to home yet. */
let honest: TestAgent;
let squatter: TestAgent;
beforeEach(async () => {
  network = await startNetwork(["home", "partner", "squatting"], []);
  [home, partner, squatting] = network.sites as [Site, Site, Site];
  // The squatter's relay peers by itself: home gives it credit, but never names it.
  await peer(squatting, home);
  await home.asMaster("PUT", `/api/v1/admin/federation/peers/${squatting.relayId}`, {
    credit_limit: 100,
  });
  boss = await home.agent();
  await home.deposit(boss, 10);
  squatter = await squatting.worker(1);
  honest = { ...home.stranger(), agentId: squatter.agentId };
});
afterEach(() => network.close());

const bind = (site: Site, { agentId, publicKey }: TestAgent): Promise<Reply> =>
  site.request("POST", "/api/v1/agents/bootstrap", {
    body: { agent_id: agentId, public_key: publicKey },
  });

async function bound(site: Site, agent: TestAgent): Promise<TestAgent> {
  const { status, body } = await bind(site, agent);
  expect(status).toBe(201);
  return { ...agent, deviceId: String(body["device_id"]) };
}

/** A task of the boss that has come to an agent of another relay. */
async function forwarded(site: Site, worker: TestAgent): Promise<Task> {
  const { body, status } = await submitFor(home, boss);
  expect(status).toBe(201);
  const taskId = String(body["task_id"]);
  const task = await taskFor(site, worker, taskId);
  await until(async () => (await statusOf(taskId)) === "claimed", "the forward is known");
  return task;
}

async function statusOf(taskId: string): Promise<string> {
  const { body } = await home.as(boss, "GET", `/agent/${boss.agentId}/task/${taskId}`);
  return (body["task"] as Task).status;
}

async function finish(site: Site, worker: TestAgent, task: Task): Promise<void> {
  expect(await work(site, worker, task)).toMatchObject({ status: 200 });
  await until(async () => (await statusOf(task.task_id)) === "completed", "the result is back");
  await until(async () => (await site.balance(worker)) > 0, "the worker is paid");
}

async function trustIn(agent: TestAgent): Promise<unknown> {
  const { body } = await home.as(boss, "GET", `/api/v1/agents/${boss.agentId}/trust`);
  const records = body["records"] as { remote_agent_id: string }[];
  return records.find(({ remote_agent_id }) => remote_agent_id === agent.agentId);
}

test("A4: work that came by a stranger's peer bars no first binding of its id here", async () => {
  await finish(squatting, squatter, await forwarded(squatting, squatter));
  expect(await trustIn(squatter)).toMatchObject({ successful_tasks: 1 });
  const agent = await bound(home, honest);
  expect(await home.as(agent, "GET", `/api/v1/agents/${agent.agentId}/balance`)).toMatchObject({
    status: 200,
    body: { balance: 0 },
  });
});

test("A4: an agent does not take over what another key has earned under its id at another relay", async () => {
  await finish(squatting, squatter, await forwarded(squatting, squatter));
  await bound(home, honest);
  expect(await trustIn(honest)).toBeUndefined();
  const closure = await home.request("GET", `/api/v1/agents/${boss.agentId}/trust/closure`);
  expect(JSON.stringify(closure.body)).not.toContain(honest.agentId);
});

test("A4: a delegator's block of an id stays when another key is bound to it", async () => {
  await finish(squatting, squatter, await forwarded(squatting, squatter));
  const path = `/api/v1/agents/${boss.agentId}/trust/${squatter.agentId}`;
  expect(await home.as(boss, "PUT", path, { trust_level: "blocked" })).toMatchObject({
    status: 200,
  });
  await bound(home, honest);
  expect(await trustIn(honest)).toMatchObject({ trust_level: "blocked" });
});

test("A4: an agent that comes here under the key of its work at another relay keeps what it has earned", async () => {
  await finish(squatting, squatter, await forwarded(squatting, squatter));
  await bound(home, squatter);
  expect(await trustIn(squatter)).toMatchObject({ successful_tasks: 1 });
});

test("A4: work that came by an admitted peer bars the binding of its agent's id under another key, also while the peer is down", async () => {
  await peer(home, partner);
  const worker = await partner.worker(1);
  await squatting.asMaster("DELETE", `/api/v1/agents/${squatter.agentId}`);
  await finish(partner, worker, await forwarded(partner, worker));
  await partner.stop();
  await network.clock.advance(700_000);
  const thief = { ...home.stranger(), agentId: worker.agentId };
  expect(await bind(home, thief)).toMatchObject({
    status: 409,
    body: { code: "agent.key_changed" },
  });
  expect(await trustIn(worker)).toMatchObject({ successful_tasks: 1 });
  expect(await bind(home, worker)).toMatchObject({ status: 201 });
});

test("A4: a result under way of the squatter is paid as it was ordered, and the agent that is bound meanwhile neither gains nor loses", async () => {
  const done = await forwarded(squatting, squatter);
  const failing = await forwarded(squatting, squatter);
  const agent = await bound(home, honest);

  // Neither can the agent here deliver what was ordered from the other one.
  for (const { task_id } of [done, failing]) {
    const path = `/agent/${boss.agentId}/task/${task_id}/result`;
    const receipt = receiptOf(agent, { ...done, task_id });
    expect((await home.as(agent, "POST", path, receipt)).status).toBeGreaterThanOrEqual(400);
    expect(await statusOf(task_id)).toBe("claimed");
  }

  await finish(squatting, squatter, done);
  const path = `/agent/${failing.agent_id}/task/${failing.task_id}/result`;
  await squatting.as(squatter, "POST", path, receiptOf(squatter, failing, { status: "failed" }));
  await until(async () => (await statusOf(failing.task_id)) === "failed", "the failure is back");

  expect(await home.balance(boss)).toBe(9);
  expect(await home.balance(agent)).toBe(0);
  expect(await positionsOf(home)).toMatchObject({ [squatting.relayId]: 0.95 });
  expect(await trustIn(agent)).toBeUndefined();
  expect((await booksOf(home)).consistent).toBe(true);
  const tasks = await home.as(agent, "GET", `/agent/${agent.agentId}/tasks`);
  expect(tasks.body).toMatchObject({ tasks: [] });
});

test("A4: tasks for an id go to the agent that is bound to it here as soon as it is bound", async () => {
  const before = await forwarded(squatting, squatter);
  const agent = await bound(home, honest);
  const path = `/agent/${agent.agentId}/task`;
  const { body } = await home.as(boss, "POST", path, { prompt: "work" });
  const task = await taskFor(home, agent, String(body["task_id"]));
  expect(await work(home, agent, task)).toMatchObject({ status: 200 });
  expect(await trustIn(agent)).toMatchObject({ successful_tasks: 1 });
  await finish(squatting, squatter, before);
  expect(await trustIn(agent)).toMatchObject({ successful_tasks: 1, interaction_count: 1 });
});

test("A4: a peer that the operator removed bars no binding any more", async () => {
  await peer(home, partner);
  await squatting.asMaster("DELETE", `/api/v1/agents/${squatter.agentId}`);
  const worker = await partner.worker(1);
  await finish(partner, worker, await forwarded(partner, worker));
  await home.asMaster("DELETE", `/api/v1/admin/federation/peers/${partner.relayId}`);
  const other = { ...home.stranger(), agentId: worker.agentId };
  expect(await bind(home, other)).toMatchObject({ status: 201 });
});
