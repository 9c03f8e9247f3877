import { bootstrapAgent, createRelayClient, delegate, mintToken } from "@agent/client";
import { generateKeyPair } from "@agent/crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestIdentity } from "../testing/agents/test-identity.ts";
import { startAgentWithoutSocket } from "../testing/agents/agent-without-socket.ts";
import { startTestRelay, type TestRelay } from "../testing/agents/test-relay.ts";
import type { RegisteredTool } from "../tools/registry.ts";
import { createTextTool } from "../testing/tools/test-tools.ts";

const identity = createTestIdentity();
let relay: TestRelay;
let agent: Awaited<ReturnType<typeof startAgentWithoutSocket>>;

/** Tells who submitted its task, and for which price. */
const originTool: RegisteredTool = {
  ...createTextTool("origin", () => ({ ok: true, data: "" })),
  handler: (_, { task }) => ({
    ok: true,
    data: JSON.stringify([task?.submittedBy, task?.estimatedCost]),
  }),
};

beforeAll(async () => {
  relay = await startTestRelay();
  agent = await startAgentWithoutSocket({
    relayUrl: relay.url,
    identity,
    tools: [createTextTool("risky", (text) => ({ ok: true, data: `did ${text}` }), 3), originTool],
    file: { listing: { capabilities: ["risky", "origin"] } },
  });
});
afterAll(async () => {
  await agent.stop();
  await relay.stop();
});

test("a task that the relay sends over MCP with its own token runs as trusted", async () => {
  const { agentId } = identity;
  const done = await delegate(relay.operator, { agentId, prompt: "it", timeoutMs: 10_000 });
  expect(done).toMatchObject({ ok: true, receipt: { status: "completed", result: "did it" } });
});

test("E12: a task that the relay sends over MCP names its submitter and its price", async () => {
  const { secretKey } = generateKeyPair();
  const known = await bootstrapAgent({ baseUrl: relay.url, secretKey });
  if (!known.ok) throw new Error(known.message);
  const submitter = createRelayClient({ baseUrl: relay.url, identity: known.identity });
  const { agentId } = identity;
  const task = { agentId, prompt: "it", requiredCapabilities: ["origin"], timeoutMs: 10_000 };
  expect(await delegate(submitter, task)).toMatchObject({
    ok: true,
    receipt: { result: JSON.stringify([known.identity.agentId, 0]) },
  });
});

test("no other caller is accepted as the relay", async () => {
  const { relayId } = agent.membership.relay;
  const token = await mintToken({
    agentId: relayId,
    deviceId: relayId,
    secretKey: generateKeyPair().secretKey,
    audience: identity.did,
    scope: ["task:submit"],
    now: Date.now(),
    jti: "1",
  });
  const headers = { authorization: `Bearer agent:${token}` };
  const response = await fetch(agent.url, { method: "POST", headers });
  expect(response.status).toBe(401);
  expect(await response.json()).toMatchObject({ code: "auth.verification_failed" });
});
