import { connectSocket, type AgentSocket } from "@agent/client";
import type { ServerMessage } from "@agent/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RunningAgent } from "../../start-agent.ts";
import { startJoinedAgent } from "../../testing/agents/start-agent.ts";
import { startTestRelay, type TestRelay } from "../../testing/agents/test-relay.ts";

let relay: TestRelay;
let running: RunningAgent;
let silent: AgentSocket;
const received: ServerMessage[] = [];
beforeEach(async () => {
  received.length = 0;
  // The relay does not call the agent's endpoint, so that its socket is the only way to the agent.
  relay = await startTestRelay(0, { AGENT_PRIVATE_ENDPOINTS: "block" });
  running = await startJoinedAgent({ relayUrl: relay.url });
  silent = connectSocket({
    baseUrl: relay.url,
    agentId: running.agent.identity.agentId,
    bearer: () => relay.operator.getBearer("socket"),
    onMessage: (message) => void received.push(message),
  });
});
afterEach(async () => {
  silent.close();
  await running.stop();
  await relay.stop();
});

async function submit(required: readonly string[]): Promise<string> {
  const { agentId } = running.agent.identity;
  const body = { prompt: "shout text=x", required_capabilities: [...required] };
  const submitted = await relay.operator.submitTask({ params: { agentId }, body });
  if (!submitted.ok) throw new Error(submitted.message);
  return submitted.body.task_id;
}

async function complete(required: readonly string[]): Promise<string> {
  const taskId = await submit(required);
  const params = { agentId: running.agent.identity.agentId, taskId };
  const status = async () => {
    const answer = await relay.operator.getTask({ params, query: { wait: 3 } });
    return answer.ok ? answer.body.task.status : answer.code;
  };
  await expect.poll(status).toBe("completed");
  return taskId;
}

const offered = () =>
  received.flatMap((message) => (message.type === "task_assigned" ? [message.task.task_id] : []));

test("B7: a started agent has announced its capabilities, so a silent device gets no task that requires them", async () => {
  await expect.poll(() => received.map(({ type }) => type)).toContain("ready");
  // The agent announces before it claims its first task.
  const first = await complete([]);
  await complete(["shout"]);
  const last = await complete([]);
  await expect.poll(offered).toContain(last);
  expect(offered()).toEqual([first, last]);
});
