import type { RequestListener, ServerResponse } from "node:http";
import { startLoopbackServer, type LoopbackServer, type TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { settleEventLoop } from "../../test/devices.ts";
import { createBuyer, createSeller, submitAcceptedTask } from "../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../test/test-relay.ts";

const ANSWER_MS = 12_000;
/** A relay opens at most 128 connections to one address. */
const SLOW_RECEIVERS = 5;

let t: TestRelay;
/** The number of messages that the honest receiver got. */
let honestly: number;
/** The unanswered requests to slow receivers, and their times of arrival. */
let unanswered: { readonly response: ServerResponse; readonly at: number }[];
let servers: LoopbackServer[];
beforeEach(async () => {
  [honestly, unanswered, servers] = [0, [], []];
  t = await startTestRelay();
});
afterEach(async () => {
  for (const server of servers) await server.close();
  await t.close();
});

async function startReceiver(listener: RequestListener): Promise<string> {
  const server = await startLoopbackServer(listener);
  servers.push(server);
  return `${server.url}/`;
}

const startSlowReceiver = () =>
  startReceiver((_, response) => unanswered.push({ response, at: t.clock.now() }));

const startHonestReceiver = () =>
  startReceiver((_, response) => {
    honestly += 1;
    response.writeHead(204).end();
  });

async function subscribe(agent: TestAgent, url: string): Promise<void> {
  const events = ["task.assigned"];
  const path = `/api/v1/agents/${agent.agentId}/webhooks`;
  expect(await t.as(agent, "POST", path, { url, events })).toMatchObject({ status: 201 });
}

async function passSecond(): Promise<void> {
  await t.clock.advance(1_000);
  const isLate = ({ at }: { readonly at: number }) => t.clock.now() - at >= ANSWER_MS;
  for (const { response } of unanswered.filter(isLate)) response.writeHead(204).end();
  unanswered = unanswered.filter((request) => !isLate(request));
  await settleEventLoop();
  await t.relay.tick();
  await settleEventLoop();
}

test("H3: 130 owners whose receivers answer late do not deprive an honest agent of a lane", async () => {
  const boss = await createBuyer(t, 1_000);
  const receivers = await Promise.all(Array.from({ length: SLOW_RECEIVERS }, startSlowReceiver));
  const startSlowOwner = async (_: unknown, made: number) => {
    const owner = await createSeller(t, 1);
    const url = receivers[made % SLOW_RECEIVERS] ?? "";
    for (let webhooks = 0; webhooks < 4; webhooks += 1) await subscribe(owner, url);
    for (let sent = 0; sent < 3; sent += 1) await submitAcceptedTask(t, boss, owner);
  };
  await Promise.all(Array.from({ length: 130 }, startSlowOwner));
  await passSecond();
  // This is the number of all lanes of a process.
  await vi.waitFor(() => expect(unanswered.length).toBeGreaterThanOrEqual(512), 60_000);
  const honest = await createSeller(t, 1);
  await subscribe(honest, await startHonestReceiver());
  for (let sent = 0; sent < 20; sent += 1) await submitAcceptedTask(t, boss, honest);
  for (let passed = 0; passed < 15; passed += 1) await passSecond();
  expect(honestly).toBe(20);
});
