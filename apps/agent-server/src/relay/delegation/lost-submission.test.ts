import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunningAgent } from "../../start-agent.ts";
import { startJoinedAgent } from "../../testing/agents/start-agent.ts";
import { startTestRelay, type TestRelay } from "../../testing/agents/test-relay.ts";
import { createTextTool } from "../../testing/tools/test-tools.ts";

let relay: TestRelay;
let worker: RunningAgent;
let boss: RunningAgent;
/** The submissions of the boss; the answer of the first one is lost. */
let submissions = 0;

beforeAll(async () => {
  relay = await startTestRelay();
  worker = await startJoinedAgent({ relayUrl: relay.url });
  const { agentId } = worker.agent.identity;
  boss = await startJoinedAgent({
    relayUrl: relay.url,
    tools: [
      createTextTool("manage", async (prompt, { delegate }) => {
        const answer = await delegate?.({ agent_id: agentId, prompt });
        return answer ?? { ok: false, error: "no relay" };
      }),
    ],
    async fetch(input, init) {
      const answer = await fetch(input, init);
      const { pathname } = new URL(input instanceof Request ? input.url : input);
      if (pathname !== `/agent/${agentId}/task`) return answer;
      submissions += 1;
      if (submissions === 1) throw new TypeError("the connection was cut");
      return answer;
    },
  });
});
afterAll(async () => {
  await boss.stop();
  await worker.stop();
  await relay.stop();
});

test("E22: a delegation whose answer is lost is sent again and creates one task", async () => {
  const { agentId } = boss.agent.identity;
  const body = { prompt: "once" };
  const submitted = await relay.operator.submitTask({ params: { agentId }, body });
  if (!submitted.ok) throw new Error(submitted.message);
  const params = { agentId, taskId: submitted.body.task_id };
  await expect
    .poll(() => relay.operator.getTask({ params }), { timeout: 10_000 })
    .toMatchObject({ body: { receipt: { status: "completed", result: "ONCE" } } });
  expect(submissions).toBe(2);
  const listed = await relay.operator.listTasks({
    params: { agentId: worker.agent.identity.agentId },
    query: {},
  });
  expect(listed).toMatchObject({ ok: true, body: { tasks: [{ status: "completed" }] } });
});
