import { afterAll, beforeAll, expect, test } from "vitest";
import { silentLog } from "../../log.ts";
import { createTestIdentity } from "../../testing/agents/test-identity.ts";
import { startTestRelay, type TestRelay } from "../../testing/agents/test-relay.ts";
import { createResumeTasks } from "./resume-tasks.ts";

let relay: TestRelay;
beforeAll(async () => {
  relay = await startTestRelay();
});
afterAll(() => relay.stop());

const { agentId } = createTestIdentity();

async function submit(): Promise<string> {
  const answer = await relay.operator.submitTask({ params: { agentId }, body: { prompt: "p" } });
  if (!answer.ok) throw new Error(answer.message);
  return answer.body.task_id;
}

function newSearch(interrupted: readonly string[]) {
  const ended: string[] = [];
  const taken: string[] = [];
  let isReachable = true;
  const resume = createResumeTasks({
    agentId,
    interrupted,
    client: () => (isReachable ? relay.operator : undefined),
    attempts: { end: (taskId) => void ended.push(taskId) },
    runtime: { log: silentLog },
  });
  return {
    ended,
    taken,
    setReachable: (value: boolean) => void (isReachable = value),
    search: () => resume(({ task_id }) => void taken.push(task_id)),
  };
}

test("A19: interrupted tasks that the relay still waits for are taken up once, others are not", async () => {
  const [open, over, strange] = [await submit(), await submit(), await submit()];
  await relay.operator.claimTask({ params: { agentId, taskId: open } });
  await relay.operator.cancelTask({ params: { agentId, taskId: over } });
  const { ended, taken, search } = newSearch([open, over, "unknown"]);
  await Promise.all([search(), search()]);
  await search();
  expect(taken).toEqual([open]);
  expect(taken).not.toContain(strange);
  expect(ended).toEqual([over]);
});

test("A19: an interrupted task is asked for again when the relay gave no answer", async () => {
  const open = await submit();
  const { taken, search, setReachable } = newSearch([open]);
  setReachable(false);
  await search();
  expect(taken).toEqual([]);
  setReachable(true);
  await search();
  expect(taken).toEqual([open]);
});
