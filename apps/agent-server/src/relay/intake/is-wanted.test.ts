import type { RelayClient } from "@agent/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { silentLog } from "../../log.ts";
import { createSystemRuntime } from "../../runtime.ts";
import { startAgentWithoutSocket } from "../../testing/agents/agent-without-socket.ts";
import { startTestRelay, type TestRelay } from "../../testing/agents/test-relay.ts";
import { createHangingTool } from "../../testing/tools/test-tools.ts";
import { createIsWanted } from "./is-wanted.ts";

let relay: TestRelay;
let agent: Awaited<ReturnType<typeof startAgentWithoutSocket>>;
beforeAll(async () => {
  relay = await startTestRelay();
  agent = await startAgentWithoutSocket({ relayUrl: relay.url, tools: [createHangingTool()] });
});
afterAll(async () => {
  await agent.stop();
  await relay.stop();
});

const runtime = {
  ...createSystemRuntime(silentLog),
  schedule: (_ms: number, task: () => void) => createSystemRuntime(silentLog).schedule(10, task),
};

async function submitted(): Promise<string> {
  const params = { agentId: agent.identity.agentId };
  const answer = await relay.operator.submitTask({ params, body: { prompt: "p" } });
  if (!answer.ok) throw new Error(answer.message);
  return answer.body.task_id;
}

test("B2: a task that the relay waits for is still wanted, also while the relay is unreachable", async () => {
  const { agentId } = agent.identity;
  const taskId = await submitted();
  const { client } = agent.membership;
  expect(await createIsWanted({ agentId, client: () => client, runtime })(taskId)).toBe(true);
  expect(await createIsWanted({ agentId, client: () => undefined, runtime })(taskId)).toBe(true);
});

test("B2: a task that is over at the relay is not wanted", async () => {
  const { agentId } = agent.identity;
  const { client } = agent.membership;
  const other = await relay.operator.submitTask({
    params: { agentId },
    body: { prompt: "p", required_capabilities: ["made-up"] },
  });
  const taskId = other.ok ? other.body.task_id : "";
  const over = async () => {
    const answer = await relay.operator.getTask({ params: { agentId, taskId }, query: {} });
    return answer.ok && answer.body.task.status;
  };
  await expect.poll(over).toBe("denied");
  expect(await createIsWanted({ agentId, client: () => client, runtime })(taskId)).toBe(false);
});

test.each<[string, { status: string; cancel_requested_at?: number | null }, boolean]>([
  ["that waits for an executor", { status: "pending" }, true],
  ["that is being worked on", { status: "claimed", cancel_requested_at: null }, true],
  ["whose cancel was requested", { status: "claimed", cancel_requested_at: 1 }, false],
  ["that was cancelled", { status: "cancelled" }, false],
  ["that expired", { status: "expired" }, false],
])("B2: a task %s is wanted: case %#", async (_, task, isWanted) => {
  const getTask = async () => ({ ok: true, body: { task } });
  const client = { getTask } as unknown as Pick<RelayClient, "getTask" | "listTasks">;
  const check = createIsWanted({ agentId: "agent", client: () => client, runtime });
  expect(await check("task")).toBe(isWanted);
});
