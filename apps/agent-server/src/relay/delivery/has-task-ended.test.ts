import { createRelayClient } from "@agent/client";
import { limits } from "@agent/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestIdentity } from "../../testing/agents/test-identity.ts";
import { startTestRelay, type TestRelay } from "../../testing/agents/test-relay.ts";
import { hasTaskEnded } from "./has-task-ended.ts";

let relay: TestRelay;
let passedMs = 0;
beforeAll(async () => {
  relay = await startTestRelay(0, {}, () => Date.now() + passedMs);
});
afterAll(() => relay.stop());

const { agentId: targetAgentId } = createTestIdentity();

async function submit() {
  const answer = await relay.operator.submitTask({
    params: { agentId: targetAgentId },
    body: { prompt: "p" },
  });
  if (!answer.ok) throw new Error(answer.message);
  return { agentId: "the executor", targetAgentId, taskId: answer.body.task_id };
}

test("E24: a task that can still be paid has not ended, also while its relay gives no answer", async () => {
  const task = await submit();
  expect(await hasTaskEnded(relay.operator, task)).toBe(false);
  const identity = { masterToken: "t" };
  const nowhere = createRelayClient({ baseUrl: "http://127.0.0.1:1", identity });
  expect(await hasTaskEnded(nowhere, task)).toBe(false);
  const stranger = createRelayClient({ baseUrl: relay.url, identity });
  expect(await hasTaskEnded(stranger, task)).toBe(false);
});

test.each([
  ["completed", true],
  ["failed", true],
  ["denied", true],
  ["cancelled", true],
  ["expired", true],
  ["pending", false],
  ["claimed", false],
  ["of a later version", false],
])("E24: a task that is %s has ended: %s", async (status, hasEnded) => {
  const getTask = async () => ({ ok: true, body: { task: { status } } });
  const client = { getTask } as unknown as Parameters<typeof hasTaskEnded>[0];
  expect(await hasTaskEnded(client, { agentId: "a", targetAgentId, taskId: "t" })).toBe(hasEnded);
});

test("E24: a cancelled task has ended", async () => {
  const task = await submit();
  const { taskId } = task;
  await relay.operator.cancelTask({ params: { agentId: targetAgentId, taskId } });
  expect(await hasTaskEnded(relay.operator, task)).toBe(true);
});

test("E24: an expired task has ended, unless it may have another target", async () => {
  const task = await submit();
  passedMs += limits.taskTtlMs + 1;
  expect(await hasTaskEnded(relay.operator, task)).toBe(true);
  const ofUnknownTarget = { ...task, agentId: targetAgentId, targetAgentId: undefined };
  expect(await hasTaskEnded(relay.operator, ofUnknownTarget)).toBe(false);
});
