import { replayRanking, type RoutingRecord } from "@agent/routing-semiring";
import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { putListing } from "../../test/market.ts";
import {
  addPeer,
  closeSites,
  completeTask,
  removePeer,
  startNetwork,
  startTwoSites,
  waitForTask,
  waitUntil,
  type TestSite,
  type TwoSites,
} from "../../test/network/network.ts";
import { createReceipt } from "../../test/test-relay.ts";

let s: TwoSites;
/** Two agents of the peer with the same listing, of which routing prefers the first by its id. */
let [first, second] = [] as unknown as [TestAgent, TestAgent];
beforeEach(async () => {
  s = await startTwoSites();
  const workers = [s.worker, await s.b.createWorker(1)];
  workers.sort((one, other) => (one.agentId < other.agentId ? -1 : 1));
  [first, second] = workers as [TestAgent, TestAgent];
});
afterEach(() => closeSites([s.a, s.b], s.proxies));

interface Routed {
  readonly executor: string;
  readonly taskId: string;
}

/** Lets scored routing choose an executor for a payer's task. */
async function route(payer: TestAgent): Promise<Routed> {
  const body = { prompt: "work", required_capabilities: ["summarise"] };
  const answer = await s.a.as(payer, "POST", `/agent/${payer.agentId}/task`, body);
  expect(answer.status).toBe(201);
  const { selected_agent } = answer.body["routing_choice"] as { selected_agent: string };
  return { executor: selected_agent, taskId: String(answer.body["task_id"]) };
}

/** Counts the ended tasks of an agent in a payer's own record. */
async function countOwn(payer: TestAgent, worker: TestAgent): Promise<number> {
  const { body } = await s.a.as(payer, "GET", `/api/v1/agents/${payer.agentId}/trust`);
  const records = body["records"] as {
    remote_agent_id: string;
    successful_tasks: number;
    failed_tasks: number;
  }[];
  const own = records.find(({ remote_agent_id }) => remote_agent_id === worker.agentId);
  return own === undefined ? 0 : own.successful_tasks + own.failed_tasks;
}

/** Sends a payer's task to an agent of the peer, which ends it. */
async function order(
  payer: TestAgent,
  worker: TestAgent,
  status: "completed" | "failed",
): Promise<void> {
  const before = await countOwn(payer, worker);
  const path = `/agent/${worker.agentId}/task`;
  const { body } = await s.a.as(payer, "POST", path, { prompt: "work" });
  const task = await waitForTask(s.b, worker, String(body["task_id"]));
  if (status === "completed") await completeTask(s.b, worker, task);
  else {
    const receipt = createReceipt(worker, task, { status });
    await s.b.as(worker, "POST", `${path}/${task.task_id}/result`, receipt);
  }
  await waitUntil(async () => (await countOwn(payer, worker)) > before, "the outcome is counted");
}

test("A32: a payer whose task an agent of another relay failed is sent to another one of the same relay", async () => {
  const stranger = await s.a.createAgent();
  await s.a.deposit(stranger, 10);
  expect((await route(s.boss)).executor).toBe(first.agentId);
  await order(s.boss, first, "failed");
  expect((await route(s.boss)).executor).toBe(second.agentId);
  // The record decides only for the agent that has it.
  expect((await route(stranger)).executor).toBe(first.agentId);
});

test("a payer whose task an agent of another relay completed is sent to it again, as the record of the decision replays", async () => {
  await order(s.boss, second, "completed");
  const { executor, taskId } = await route(s.boss);
  expect(executor).toBe(second.agentId);
  const path = `/agent/${s.boss.agentId}/task/${taskId}/routing`;
  const { body } = await s.a.as(s.boss, "GET", path);
  const record = body as unknown as RoutingRecord;
  expect(record.candidates).toContainEqual(
    expect.objectContaining({ agent_id: second.agentId, successes: 1, counted: 1 }),
  );
  expect(replayRanking(record)).toEqual(record.choice);
});

test("A33: an agent inherits nothing that another key has earned with a payer under its id", async () => {
  const network = await startNetwork(["home", "partner", "squatting"], []);
  try {
    const [home, partner, squatting] = network.sites as [TestSite, TestSite, TestSite];
    const boss = await home.createAgent();
    await home.deposit(boss, 10);
    const squatter = await squatting.createWorker(1);
    await addPeer(home, squatting);
    const record = async () => {
      const path = `/api/v1/agents/${boss.agentId}/trust/${squatter.agentId}`;
      return (await home.asOperator("GET", path)).body["trust_level"];
    };
    const shown = async () => {
      const { body } = await home.as(boss, "GET", "/api/v1/agents/discover?capability=summarise");
      return (body["agents"] as { trust_level: string }[])[0]?.trust_level;
    };
    const task = await home.as(boss, "POST", `/agent/${squatter.agentId}/task`, { prompt: "work" });
    const received = await waitForTask(squatting, squatter, String(task.body["task_id"]));
    await completeTask(squatting, squatter, received);
    await waitUntil(async () => (await record()) === "first_contact", "the success is counted");
    await network.clock.advance(60_000);
    expect(await shown()).toBe("first_contact");

    await removePeer(home, squatting);
    await addPeer(home, partner);
    const honest = { ...home.createUnknownAgent(), agentId: squatter.agentId };
    const body = { agent_id: honest.agentId, public_key: honest.publicKey };
    const bound = await partner.request("POST", "/api/v1/agents/bootstrap", { body });
    const agent = { ...honest, deviceId: String(bound.body["device_id"]) };
    await putListing(partner, agent, 1);
    await network.clock.advance(60_000);
    expect(await shown()).toBe("unknown");
    const path = `/agent/${boss.agentId}/task`;
    const wanted = { prompt: "work", required_capabilities: ["summarise"] };
    const routed = await home.as(boss, "POST", path, wanted);
    const replay = await home.as(boss, "GET", `${path}/${String(routed.body["task_id"])}/routing`);
    const { candidates } = replay.body as unknown as RoutingRecord;
    expect(candidates).toEqual([
      expect.objectContaining({ agent_id: agent.agentId, successes: 0, counted: 0 }),
    ]);
  } finally {
    await network.close();
  }
});
