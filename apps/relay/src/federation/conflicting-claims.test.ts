import { once } from "node:events";
import { createManualClock, type ManualClock, type TestAgent } from "@agent/testkit";
import type { ClientMessage, ServerMessage, Task } from "@agent/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { settleEventLoop, socketUrl } from "../../test/devices.ts";
import { startListeningPeer, type ListeningPeer } from "../../test/network/listening-peer.ts";
import {
  addPeer,
  startSite,
  submitToBest,
  waitForTask,
  waitUntil,
  completeTask,
  type TestSite,
} from "../../test/network/network.ts";

let clock: ManualClock;
let a: TestSite;
let b: TestSite;
let boss: TestAgent;
let worker: TestAgent;
/** An agent of alpha with the same id as beta's worker. */
let namesake: TestAgent;
let sockets: WebSocket[];

/** Alpha's credit at beta is less than the price of a task, so the task waits at alpha. */
beforeEach(async () => {
  clock = createManualClock();
  sockets = [];
  const env = { AGENT_FEDERATION_CREDIT_LIMIT: "0.5" };
  a = await startSite({ name: "alpha", clock, seed: 1, env });
  b = await startSite({ name: "beta", clock, seed: 2 });
  await addPeer(a, b);
  boss = await a.createAgent();
  await a.deposit(boss, 10);
  worker = await b.createWorker(1);
});
afterEach(async () => {
  for (const socket of sockets) socket.terminate();
  await Promise.all([a.close(), b.close()]);
});

/** Submits a task for beta's worker that alpha has not forwarded yet. */
async function waiting(): Promise<string> {
  const { body } = await submitToBest(a, boss);
  await waitUntil(() => a.listLogged("federation.forward.refused").length > 0, "the task waits");
  await takeId();
  return String(body["task_id"]);
}

async function takeId(): Promise<void> {
  const thief = { ...a.createUnknownAgent(), agentId: worker.agentId };
  // An admitted peer lists the worker, so only the operator can bind the id to another key.
  const known = await a.asOperator("POST", "/api/v1/agents/bootstrap", {
    agent_id: thief.agentId,
    public_key: thief.publicKey,
  });
  expect(known.status).toBe(201);
  namesake = { ...thief, deviceId: String(known.body["device_id"]) };
}

async function statusOf(taskId: string): Promise<Pick<Task, "status" | "assigned_to">> {
  const { body } = await a.as(boss, "GET", `/agent/${boss.agentId}/task/${taskId}`);
  return body["task"] as Task;
}

/** Records the events that alpha sends to the webhook of the agent with the same id. */
async function listenToWebhook(): Promise<ListeningPeer> {
  const listening = await startListeningPeer(() => ({}));
  const path = `/api/v1/agents/${namesake.agentId}/webhooks`;
  const body = { url: listening.url, events: ["task.assigned", "task.completed", "task.failed"] };
  expect(await a.as(namesake, "POST", path, body)).toMatchObject({ status: 201 });
  return listening;
}

/** Sends a message from an agent's device and returns alpha's answers, including the later ones. */
async function say(agent: TestAgent, message: ClientMessage): Promise<readonly ServerMessage[]> {
  const socket = new WebSocket(socketUrl(a.url, agent.agentId), {
    headers: { authorization: `Bearer ${await a.token(agent)}` },
  });
  sockets.push(socket);
  const heard: ServerMessage[] = [];
  socket.on("message", (data: Buffer) => heard.push(JSON.parse(data.toString()) as ServerMessage));
  await once(socket, "open");
  await waitUntil(() => heard.some(({ type }) => type === "ready"), "the device is connected");
  socket.send(JSON.stringify(message));
  socket.send(JSON.stringify({ type: "ping" }));
  await waitUntil(() => heard.some(({ type }) => type === "pong"), "the message is read");
  return heard;
}

/** Expects that the task reaches its agent once alpha's credit covers the price. */
async function expectPaid(taskId: string): Promise<void> {
  const path = `/api/v1/admin/federation/peers/${b.relayId}`;
  await a.asOperator("PUT", path, { credit_limit: 10 });
  await clock.advance(60_000);
  await Promise.all([a.relay.tick(), b.relay.tick()]);
  await completeTask(b, worker, await waitForTask(b, worker, taskId));
  await waitUntil(async () => (await b.getBalance(worker)) === 0.9025, "the worker is paid");
}

test("A1: a local agent with a remote agent's id cannot claim its task by socket before a peer accepts it", async () => {
  const taskId = await waiting();
  const heard = await say(namesake, { type: "claim", task_id: taskId });
  // A ping is answered before work that waits for the database.
  await waitUntil(
    () => heard.some(({ type }) => type === "error" || type === "claimed"),
    "the claim is answered",
  );
  expect(heard).toContainEqual(
    expect.objectContaining({ type: "error", code: "task.not_pending", task_id: taskId }),
  );
  expect(await statusOf(taskId)).toMatchObject({ status: "pending" });
  await expectPaid(taskId);
});

test("A1: a local agent with a remote agent's id cannot claim its task over HTTP", async () => {
  const taskId = await waiting();
  for (const [method, end] of [
    ["POST", "claim"],
    ["POST", "progress"],
    ["DELETE", "claim"],
  ] as const) {
    const path = `/agent/${boss.agentId}/task/${taskId}/${end}`;
    expect((await a.as(namesake, method, path)).status).toBeGreaterThanOrEqual(400);
  }
  expect(await statusOf(taskId)).toMatchObject({ status: "pending" });
  await expectPaid(taskId);
});

test("A1: a local agent with a remote agent's id cannot reassign its task by refusing it", async () => {
  const other = await a.createWorker(1);
  await a.as(other, "POST", `/api/v1/agents/${other.agentId}/listing`, {
    capabilities: ["summarise"],
    pricing: [{ capability: "summarise", unit_cost: 1, currency: "USD", per: "task" }],
    sla: { max_latency_ms: 600_000, availability_guarantee: 0.01 },
    description: "a slow worker",
  });
  const taskId = await waiting();
  // The task returns to its peer when the other executor's endpoint has failed as well.
  await waitUntil(() => a.listLogged("mcp.forward_failed").length > 0, "the other is tried");
  await waitUntil(
    async () => (await statusOf(taskId)).assigned_to === worker.agentId,
    "the task waits for its peer",
  );
  await say(other, { type: "ping" });
  expect(await statusOf(taskId)).toMatchObject({ assigned_to: worker.agentId });
  await say(namesake, { type: "refuse", task_id: taskId });
  await settleEventLoop();
  expect(await statusOf(taskId)).toMatchObject({ assigned_to: worker.agentId });
});

test("A1: no webhook of a local agent with a remote agent's id receives events of its task", async () => {
  const taskId = await waiting();
  const webhook = await listenToWebhook();
  await expectPaid(taskId);
  await clock.advance(5_000);
  await a.relay.tick();
  await a.relay.idle();
  expect(webhook.requests.map(({ body: event }) => event["type"])).toEqual([]);
  await webhook.close();
});
