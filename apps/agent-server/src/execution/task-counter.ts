import type { RunTask } from "./run-task.ts";

export interface TaskCounts {
  readonly active: number;
  readonly completed: number;
  /** Failed or denied. */
  readonly failed: number;
}

/** Counts the tasks of this process since its start. */
export interface TaskCounter {
  counts(): TaskCounts;
  /** Returns a runner that counts the tasks of `run`. */
  countRuns(run: RunTask): RunTask;
}

export function createTaskCounter(): TaskCounter {
  let active = 0;
  let completed = 0;
  let failed = 0;
  return {
    counts: () => ({ active, completed, failed }),
    countRuns: (run) => async (task, options) => {
      active++;
      try {
        const signed = await run(task, options);
        if (signed.receipt.status === "completed") completed++;
        else failed++;
        return signed;
      } finally {
        active--;
      }
    },
  };
}
