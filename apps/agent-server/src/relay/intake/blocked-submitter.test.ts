import { createRelayClient } from "@agent/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { KnownAgents } from "../../http/authentication/known-agents.ts";
import { createPaidAgent } from "../../testing/agents/create-paid-agent.ts";
import { startJoinedAgent } from "../../testing/agents/start-agent.ts";
import { submitForReceipt } from "../../testing/agents/submit-for-receipt.ts";
import { startTestRelay, type TestRelay } from "../../testing/agents/test-relay.ts";
import { createTextTool } from "../../testing/tools/test-tools.ts";

let relay: TestRelay;
beforeAll(async () => {
  relay = await startTestRelay();
});
afterAll(() => relay.stop());

test("E29: tasks that a blocked agent submits at the relay are denied at no price, until the owner ends the block", async () => {
  const agent = await createPaidAgent(relay, 1);
  const { agentId, publicKey } = agent;
  const calls: string[] = [];
  const tool = createTextTool("deploy", (text) => {
    calls.push(text);
    return { ok: true, data: `deployed ${text}` };
  });
  let trust: "blocked" | "verified" = "blocked";
  const knownAgents = (): KnownAgents =>
    new Map([[agentId, { publicKey, caller: { kind: "agent", agentId, trust } }]]);
  const running = await startJoinedAgent({
    relayUrl: relay.url,
    tools: [tool],
    knownAgents,
    file: {
      listing: { capabilities: ["deploy"], pricing: [{ capability: "deploy", unit_cost: 0.1 }] },
    },
  });
  const client = createRelayClient({ baseUrl: relay.url, identity: agent });
  const work = async (prompt: string) => {
    const receipt = await submitForReceipt(client, running.agent.identity.agentId, { prompt });
    return receipt["status"];
  };
  const balance = async () => {
    const got = await client.getBalance({ params: { agentId } });
    return got.ok ? got.body.balance : undefined;
  };
  expect(await work("deploy text=site")).toBe("denied");
  expect(calls).toEqual([]);
  expect(await balance()).toBe(1);
  trust = "verified";
  expect(await work("deploy text=site")).toBe("completed");
  expect(calls).toEqual(["site"]);
  expect(await balance()).toBe(0.9);
  await running.stop();
});
