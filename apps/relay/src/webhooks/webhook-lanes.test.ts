import type { ServerResponse } from "node:http";
import { startLoopbackServer, type LoopbackServer, type TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { settleEventLoop } from "../../test/devices.ts";
import { createBuyer, createSeller, submitAcceptedTask } from "../../test/market.ts";
import { processCount, startTestRelay, type TestRelay } from "../../test/test-relay.ts";

let t: TestRelay;
let boss: TestAgent;
/** The path of each request that the receiver got. */
let received: string[];
/** The requests to paths that begin with `/silent`, which are never answered. */
let unanswered: ServerResponse[];
let status: number;
let receiver: LoopbackServer;
beforeEach(async () => {
  [received, unanswered, status] = [[], [], 204];
  receiver = await startLoopbackServer((request, response) => {
    received.push(request.url ?? "");
    if (request.url?.startsWith("/silent") === true) unanswered.push(response);
    else response.writeHead(status).end();
  });
  t = await startTestRelay();
  boss = await createBuyer(t, 100);
});
afterEach(async () => {
  await receiver.close();
  await t.close();
});

async function subscribe(agent: TestAgent, path: string): Promise<void> {
  const reply = await t.as(agent, "POST", `/api/v1/agents/${agent.agentId}/webhooks`, {
    url: `${receiver.url}${path}`,
    events: ["task.assigned"],
  });
  expect(reply.status).toBe(201);
}

async function passSecond(): Promise<void> {
  await t.clock.advance(1_000);
  await t.relay.tick();
  await settleEventLoop();
}

const countReceived = (path: string) => received.filter((url) => url === path).length;

test("H3: an agent with 20 silent webhooks delays no other agent's webhook", async () => {
  const [bad, honest] = [await createSeller(t, 1), await createSeller(t, 1)];
  for (let made = 0; made < 20; made += 1) await subscribe(bad, `/silent${made}`);
  await subscribe(honest, "/honest");
  await submitAcceptedTask(t, boss, bad);
  await passSecond();
  for (let sent = 1; sent <= 5; sent += 1) {
    await submitAcceptedTask(t, boss, honest);
    await passSecond();
    expect(countReceived("/honest")).toBe(sent);
  }
  expect(unanswered).toHaveLength(4 * processCount);
  // The next four are tried once the first ones have timed out, and none is omitted.
  for (let passed = 0; passed < 80; passed += 1) await passSecond();
  expect(new Set(received.filter((url) => url.startsWith("/silent"))).size).toBe(20);
});

test("H3: the other webhooks of an owner go on while one of them is silent", async () => {
  const owner = await createSeller(t, 1);
  for (const path of ["/silent", "/first", "/second"]) await subscribe(owner, path);
  for (let sent = 1; sent <= 5; sent += 1) {
    await submitAcceptedTask(t, boss, owner);
    await passSecond();
    expect([countReceived("/first"), countReceived("/second")]).toEqual([sent, sent]);
  }
  expect(unanswered).toHaveLength(1);
});

test("H3: the next delivery of a webhook begins at once, and a failed one pauses the webhook", async () => {
  const owner = await createSeller(t, 1);
  await subscribe(owner, "/hook");
  for (let sent = 0; sent < 10; sent += 1) await submitAcceptedTask(t, boss, owner);
  await passSecond();
  expect(countReceived("/hook")).toBe(10);
  received = [];
  status = 500;
  for (let sent = 0; sent < 5; sent += 1) await submitAcceptedTask(t, boss, owner);
  for (let passed = 0; passed < 5; passed += 1) await passSecond();
  expect(countReceived("/hook")).toBe(1);
  status = 204;
  for (let passed = 0; passed < 2; passed += 1) await passSecond();
  expect(countReceived("/hook")).toBe(6);
});
