import { connectSocket, createRelayClient, type AgentSocket } from "@agent/client";
import { createSeededRandom, type TestAgent } from "@agent/testkit";
import type { ServerMessage } from "@agent/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import { serveTestRelay, settleEventLoop, type ServedRelay } from "../../test/devices.ts";
import { createBuyer, submitAcceptedTask, createSeller } from "../../test/market.ts";
import { createReceipt } from "../../test/test-relay.ts";

let t: ServedRelay;
let worker: TestAgent;
let socket: AgentSocket;
let received: ServerMessage[];
let down: number[];
beforeEach(async () => {
  t = await serveTestRelay();
  worker = await createSeller(t, 2);
  [received, down] = [[], []];
  const world = { ...t.clock, ...createSeededRandom(3) };
  const client = createRelayClient({ baseUrl: t.baseUrl, identity: worker, ...world });
  socket = connectSocket({
    ...world,
    baseUrl: t.baseUrl,
    agentId: worker.agentId,
    bearer: () => client.getBearer("socket"),
    capabilities: ["summarise"],
    onMessage: (message) => received.push(message),
    onDisconnect: ({ code }) => down.push(code),
  });
  await heard("ready");
  await settleEventLoop();
});
afterEach(async () => {
  socket.close();
  await t.close();
});

const heard = (type: ServerMessage["type"]) =>
  expect.poll(() => received.map((message) => message.type)).toContain(type);

test("an agent with the published client works on a task from its offer to its payment", async () => {
  const boss = await createBuyer(t, 10);
  const task = await submitAcceptedTask(t, boss, worker, { required_capabilities: ["summarise"] });
  await heard("task_assigned");
  socket.send({ type: "claim", task_id: task.task_id });
  await heard("claimed");
  socket.send({
    type: "result",
    task_id: task.task_id,
    receipt: { ...createReceipt(worker, task) },
  });
  await heard("result_accepted");
  expect(await t.getBalance(worker)).toBe(1.9);
});

test("the client stays connected beyond the end of its token, because it sends a fresh one in time", async () => {
  await t.advance(900_000);
  expect(down).toEqual([]);
  const { task_id } = await submitAcceptedTask(t, await createBuyer(t, 10), worker);
  await heard("task_assigned");
  expect(received.at(-1)).toMatchObject({ task: { task_id } });
});

test("the client is told that the relay shuts down, and why it is refused afterwards", async () => {
  await t.relay.drain();
  await heard("draining");
  await expect.poll(() => down).toEqual([1_001]);
  await t.clock.advance(60_000);
  await expect.poll(() => down.length).toBeGreaterThan(1);
  expect(received.at(-1)).toEqual({ type: "draining" });
});
