import { limits } from "@agent/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestRelay, type TestRelay } from "../testing/agents/test-relay.ts";
import { startJoinedAgent } from "../testing/agents/start-agent.ts";
import { createTextTool } from "../testing/tools/test-tools.ts";

let relay: TestRelay;
beforeEach(async () => {
  relay = await startTestRelay();
});
afterEach(() => relay.stop());

const tools = Array.from({ length: limits.capabilities + 20 }, (_, index) =>
  createTextTool(`tool-${index}`, (text) => ({ ok: true, data: text })),
);

test("B7: an agent with more tools than a relay accepts gets tasks for its listed ones", async () => {
  const agent = await startJoinedAgent({
    relayUrl: relay.url,
    tools,
    file: { offer: "all", listing: { capabilities: ["echo-all"] } },
  });
  const { agentId } = agent.agent.identity;
  const submitted = await relay.operator.submitTask({
    params: { agentId },
    body: { prompt: "tool-3 text=x", required_capabilities: ["echo-all"] },
  });
  const taskId = submitted.ok ? submitted.body.task_id : "";
  const query = { wait: 3 };
  const status = async () => {
    const answer = await relay.operator.getTask({ params: { agentId, taskId }, query });
    return answer.ok ? answer.body.task.status : answer.code;
  };
  await expect.poll(status, { timeout: 8_000 }).toBe("completed");
  await agent.stop();
});
