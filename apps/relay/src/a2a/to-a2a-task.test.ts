import type { Task } from "@agent/wire";
import { expect, test } from "vitest";
import { toArtifacts, toStatusUpdate } from "./to-a2a-task.ts";

const task = {} as Task;
const idsOf = (...[found]: Parameters<typeof toArtifacts>) =>
  toArtifacts(found).map(({ artifactId }) => artifactId);

test("a task has no artifacts before it has a receipt", () => {
  expect(idsOf({ task, receipt: null })).toEqual([]);
});

test("the attestation of another relay is an artifact if there is one", () => {
  const receipt = { result: "done" };
  expect(idsOf({ task, receipt, attestation: {} })).toEqual(["result", "receipt", "attestation"]);
});

test.each([
  ["submitted", "TASK_STATE_SUBMITTED"],
  ["claimed", "TASK_STATE_WORKING"],
  ["progress", "TASK_STATE_WORKING"],
  ["released", "TASK_STATE_SUBMITTED"],
  ["reassigned", "TASK_STATE_SUBMITTED"],
  ["cancelled", "TASK_STATE_CANCELED"],
] as const)("the event %s makes the status %s", (type, state) => {
  expect(toStatusUpdate({ type, event_id: 2, at: 0, task_id: "t-1" })).toEqual({
    taskId: "t-1",
    contextId: "t-1",
    status: { state, timestamp: "1970-01-01T00:00:00.000Z" },
  });
});
