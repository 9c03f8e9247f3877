import { delegate } from "@agent/client";
import type { LoopbackServer } from "@agent/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startSocketlessProxy } from "../testing/agents/socketless-proxy.ts";
import { startJoinedAgent } from "../testing/agents/start-agent.ts";
import { startTestRelay, type TestRelay } from "../testing/agents/test-relay.ts";
import { createTextTool } from "../testing/tools/test-tools.ts";

let relay: TestRelay;
let proxy: LoopbackServer;
beforeAll(async () => {
  relay = await startTestRelay();
  proxy = await startSocketlessProxy(() => relay.url);
});
afterAll(async () => {
  await proxy.close();
  await relay.stop();
});

test("an agent whose proxy refuses every socket works for its relay at any time", async () => {
  let refusals = 0;
  const running = await startJoinedAgent({
    relayUrl: proxy.url,
    tools: [createTextTool("count", (text) => ({ ok: true, data: text }))],
    file: { syncIntervalMs: 60_000 },
    log: (_, event) => (refusals += Number(event === "socket.refused")),
  });
  const { agentId } = running.agent.identity;
  // The second refusal comes long before the next heartbeat.
  await expect.poll(() => refusals, { timeout: 20_000 }).toBe(2);
  expect(running.relayLink?.membership()).toBeDefined();
  expect(await delegate(relay.operator, { agentId, prompt: "it", timeoutMs: 5_000 })).toMatchObject(
    { ok: true, receipt: { result: "it" } },
  );
  await running.stop();
});
