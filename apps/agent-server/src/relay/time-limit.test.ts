import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunningAgent } from "../start-agent.ts";
import { startJoinedAgent } from "../testing/agents/start-agent.ts";
import { startTestRelay, type TestRelay } from "../testing/agents/test-relay.ts";
import { createTextTool } from "../testing/tools/test-tools.ts";

let relay: TestRelay;
let agent: RunningAgent;
beforeAll(async () => {
  relay = await startTestRelay();
  const hanging = createTextTool("hang", () => new Promise(() => {}));
  agent = await startJoinedAgent({ relayUrl: relay.url, tools: [hanging] });
});
afterAll(async () => {
  await agent.stop();
  await relay.stop();
});

test("a task that uses up its time limit gets its receipt before its claim ends", async () => {
  const { agentId } = agent.agent.identity;
  const submitted = await relay.operator.submitTask({
    params: { agentId },
    // A quarter of it must be long enough for the receipt on a busy machine.
    body: { prompt: "hang text=x", wall_clock_ms: 8_000 },
  });
  if (!submitted.ok) throw new Error(submitted.message);
  const params = { agentId, taskId: submitted.body.task_id };
  await expect
    .poll(() => relay.operator.getTask({ params }), { timeout: 20_000 })
    .toMatchObject({ body: { task: { status: "failed" } } });
  const evidence = await relay.operator.getEvidence({ params });
  expect(evidence).toMatchObject({ ok: true });
  expect(evidence).not.toHaveProperty("body.no_shows");
});
