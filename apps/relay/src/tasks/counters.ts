import { limits, refuse, type Refusal } from "@agent/wire";
import type { Tx } from "../storage/storage.ts";
import { leaveTaskPlace, takeTaskPlace } from "./counter-store.ts";

const ALL = "all";

/** Takes a place among the open tasks of the relay and of the submitter. */
export async function takePlace(
  tx: Tx,
  submitter: string | null,
): Promise<Refusal<"task.relay_full" | "task.submitter_full"> | undefined> {
  if (!(await takeTaskPlace(tx, ALL, limits.liveTasks))) {
    return { ...refuse("task.relay_full"), retryAfterSeconds: 60 };
  }
  if (submitter === null) return undefined;
  return (await takeTaskPlace(tx, `by:${submitter}`, limits.liveTasksPerSubmitter))
    ? undefined
    : { ...refuse("task.submitter_full"), retryAfterSeconds: 60 };
}

export async function leavePlace(tx: Tx, submitter: string | null): Promise<void> {
  await leaveTaskPlace(tx, ALL);
  if (submitter !== null) await leaveTaskPlace(tx, `by:${submitter}`);
}
