import { createManualClock } from "@agent/testkit";
import { expect, test } from "vitest";
import { createSystemRuntime } from "../runtime.ts";
import { silentLog } from "../log.ts";
import { buildTestReceipt } from "../testing/tools/test-receipt.ts";
import { buildTask, createRunningTasks } from "./running-tasks.ts";
import { WorkWithdrawn } from "./abort-reasons.ts";
import type { RunOptions } from "./run-task.ts";
import { WorkPostponed } from "./work-postponed.ts";

const caller = { kind: "owner" } as const;
const work = { prompt: "p", requiredCapabilities: [], relayTaskId: "t" };

/** Tasks that end only when they are cancelled; `reasons` collects the abort reasons. */
function newTasks() {
  const clock = createManualClock();
  const reasons: unknown[] = [];
  const tasks = createRunningTasks({
    run: ({ taskId }, { cancel }) =>
      new Promise((resolve) => {
        cancel?.addEventListener("abort", () => {
          reasons.push(cancel.reason);
          resolve({ receipt: buildTestReceipt(taskId) });
        });
      }),
    checkDelegation: async () => ({ ok: true, rights: {} }),
    runtime: { ...createSystemRuntime(silentLog), ...clock },
  });
  return { clock, reasons, tasks };
}

test("abort cancels a running task with the given reason and ignores a finished one", async () => {
  const { clock, reasons, tasks } = newTasks();
  const running = tasks.runWork(work, caller);
  await clock.advance(0);
  const reason = new WorkWithdrawn();
  expect(tasks.abort("t", reason)).toBe(true);
  await running;
  expect(reasons).toEqual([reason]);
  expect(tasks.abort("t")).toBe(false);
});

test("stop lets tasks run for the grace period, then cancels them and waits for their end", async () => {
  const { clock, reasons, tasks } = newTasks();
  const running = tasks.runWork(work, caller);
  await clock.advance(0);
  const stopped = tasks.stop(5_000);
  await clock.advance(4_999);
  expect(reasons).toHaveLength(0);
  await clock.advance(1);
  await Promise.all([running, stopped]);
  expect(reasons).toHaveLength(1);
  expect(clock.pending()).toEqual([]);
});

test("work from a relay keeps its id and time, and other work gets a new id and the present time", () => {
  const runtime = { now: () => 7, randomBytes: (count: number) => new Uint8Array(count) };
  const given = { ...work, submittedAt: 3, submittedBy: "x", wallClockMs: 9 };
  expect(buildTask(given, runtime)).toEqual({
    taskId: "t",
    relayTaskId: "t",
    prompt: "p",
    requiredCapabilities: [],
    submittedAt: 3,
    submittedBy: "x",
    wallClockMs: 9,
  });
  const own = buildTask({ prompt: "p", requiredCapabilities: [] }, runtime);
  expect(own).toMatchObject({ submittedAt: 7 });
  expect(own.taskId).toMatch(/^[0-9a-f-]{36}$/);
  expect(own).not.toHaveProperty("relayTaskId");
});

/** Counts attempts as `mayBegin` says; `outcomes` are those without work. */
function newCountedTasks(mayBegin: boolean, canCheck = true) {
  const counted: string[] = [];
  const outcomes: RunOptions["outcome"][] = [];
  const tasks = createRunningTasks({
    run: async ({ taskId }, { outcome }) => {
      outcomes.push(outcome);
      return { receipt: buildTestReceipt(taskId) };
    },
    checkDelegation: async () => (canCheck ? { ok: true, rights: {} } : { ok: false }),
    attempts: {
      run(taskId, _, run) {
        counted.push(taskId);
        return run(mayBegin);
      },
      end: () => {},
    },
    runtime: createSystemRuntime(silentLog),
  });
  return { counted, outcomes, tasks };
}

test("A20: only a relay's task is counted, and it runs", async () => {
  const { counted, outcomes, tasks } = newCountedTasks(true);
  await tasks.runWork(work, caller);
  await tasks.runWork({ prompt: "p", requiredCapabilities: [] }, caller);
  expect(counted).toEqual(["t"]);
  expect(outcomes).toEqual([undefined, undefined]);
});

test("A20: a task that was begun too often gets a failed receipt without work", async () => {
  const { outcomes, tasks } = newCountedTasks(false);
  await tasks.runWork(work, caller);
  const result = "This agent was killed or crashed each of the 3 times that it worked on this task";
  expect(outcomes).toEqual([{ status: "failed", result }]);
});

test("A20: a task whose delegation cannot be checked now is not counted", async () => {
  const { counted, tasks } = newCountedTasks(true, false);
  await expect(tasks.runWork(work, caller)).rejects.toThrow(WorkPostponed);
  expect(counted).toEqual([]);
});
