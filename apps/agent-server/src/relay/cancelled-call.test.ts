import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestIdentity } from "../testing/agents/test-identity.ts";
import { startAgentWithoutSocket } from "../testing/agents/agent-without-socket.ts";
import { startJoinedAgent } from "../testing/agents/start-agent.ts";
import { startTestRelay, type TestRelay } from "../testing/agents/test-relay.ts";
import { createHangingTool } from "../testing/tools/test-tools.ts";

let relay: TestRelay;
let agent: { readonly stop: () => Promise<void> };
let stopped: string[];
beforeEach(async () => {
  relay = await startTestRelay();
});
afterEach(async () => {
  await agent.stop();
  await relay.stop();
});

async function statusAt(agentId: string, taskId: string) {
  const answer = await relay.operator.getTask({ params: { agentId, taskId }, query: {} });
  return answer.ok ? answer.body.task : undefined;
}

/** A relay without the agent's socket claims a task for a call of the endpoint, and releases it after. */
async function countSockets(agentId: string) {
  const answer = await relay.operator.listAllAgents({ query: {} });
  return answer.ok
    ? answer.body.agents.find(({ agent_id }) => agent_id === agentId)?.sockets
    : undefined;
}

const hanging = () => {
  stopped = [];
  return {
    relayUrl: relay.url,
    tools: [createHangingTool(() => void stopped.push("stopped"))],
    file: { listing: { capabilities: ["hanging"] } },
  };
};

async function startHanging(): Promise<string> {
  const started = await startAgentWithoutSocket(hanging());
  agent = started;
  return started.identity.agentId;
}

const quickly = { timeout: 5_000 };

test("B2: the cancel of a task sent over MCP takes effect as soon as the agent has stopped", async () => {
  const agentId = await startHanging();
  const task = await relay.operator.submitTask({ params: { agentId }, body: { prompt: "p" } });
  const taskId = task.ok ? task.body.task_id : "";
  await expect.poll(async () => (await statusAt(agentId, taskId))?.status).toBe("claimed");
  await new Promise((resolve) => setTimeout(resolve, 300));
  const cancelled = await relay.operator.cancelTask({ params: { agentId, taskId } });
  expect(cancelled).toMatchObject({ ok: true, status: 202 });
  await expect.poll(() => stopped, quickly).toEqual(["stopped"]);
  await expect
    .poll(async () => (await statusAt(agentId, taskId))?.status, quickly)
    .toBe("cancelled");
});

test("B2: the cancel of a task routed to another agent than its target takes effect as soon as that agent has stopped", async () => {
  const agentId = await startHanging();
  const { agentId: target } = createTestIdentity();
  const task = await relay.operator.submitTask({
    params: { agentId: target },
    body: { prompt: "p", required_capabilities: ["hanging"] },
  });
  const taskId = task.ok ? task.body.task_id : "";
  await expect.poll(async () => (await statusAt(target, taskId))?.status).toBe("claimed");
  expect((await statusAt(target, taskId))?.assigned_to).toBe(agentId);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const cancelled = await relay.operator.cancelTask({ params: { agentId: target, taskId } });
  expect(cancelled).toMatchObject({ ok: true, status: 202 });
  await expect.poll(() => stopped, quickly).toEqual(["stopped"]);
  await expect
    .poll(async () => (await statusAt(target, taskId))?.status, quickly)
    .toBe("cancelled");
});

test("B2: the cancel of a task sent over a socket takes effect as soon as the agent has stopped", async () => {
  await relay.stop();
  // The relay does not call the agent's endpoint, so that its socket is the only way to the agent.
  relay = await startTestRelay(0, { AGENT_PRIVATE_ENDPOINTS: "block" });
  const joined = await startJoinedAgent(hanging());
  agent = joined;
  const { agentId } = joined.agent.identity;
  await expect.poll(() => countSockets(agentId)).toBe(1);
  const task = await relay.operator.submitTask({ params: { agentId }, body: { prompt: "p" } });
  const taskId = task.ok ? task.body.task_id : "";
  await expect.poll(async () => (await statusAt(agentId, taskId))?.status).toBe("claimed");
  const cancelled = await relay.operator.cancelTask({ params: { agentId, taskId } });
  expect(cancelled).toMatchObject({ ok: true, status: 202 });
  await expect
    .poll(async () => (await statusAt(agentId, taskId))?.status, quickly)
    .toBe("cancelled");
});
