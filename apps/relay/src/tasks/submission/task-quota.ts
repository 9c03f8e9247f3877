import { limits, refuse, type Refusal } from "@agent/wire";
import type { Tx } from "../../storage/storage.ts";
import { decrementOpenTasks, incrementOpenTasks } from "./task-quota-store.ts";

const RELAY_SCOPE = "all";

/** Acquires a slot among the open tasks of the relay and of the submitter. */
export async function acquireTaskSlot(
  tx: Tx,
  submitter: string | null,
): Promise<Refusal<"task.relay_full" | "task.submitter_full"> | undefined> {
  if (!(await incrementOpenTasks(tx, RELAY_SCOPE, limits.liveTasks))) {
    return {
      ...refuse("task.relay_full", `at most ${limits.liveTasks} open tasks`),
      retryAfterSeconds: 60,
    };
  }
  if (submitter === null) return undefined;
  return (await incrementOpenTasks(tx, `by:${submitter}`, limits.liveTasksPerSubmitter))
    ? undefined
    : {
        ...refuse("task.submitter_full", `at most ${limits.liveTasksPerSubmitter} open tasks`),
        retryAfterSeconds: 60,
      };
}

export async function releaseTaskSlot(tx: Tx, submitter: string | null): Promise<void> {
  await decrementOpenTasks(tx, RELAY_SCOPE);
  if (submitter !== null) await decrementOpenTasks(tx, `by:${submitter}`);
}
