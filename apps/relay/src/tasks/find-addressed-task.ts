import type { Reader } from "../storage/storage.ts";
import type { StoredTaskRow } from "../storage/tables/tasks.ts";
import { findTask } from "./store.ts";
import { isExpired } from "./task.ts";

/** The path of a task: its target and its id. */
interface TaskPath {
  readonly agentId: string;
  readonly taskId: string;
}

/**
 * Finds the task of a path. An expired one is not found either, even if the job that deletes its row has not run
 * yet.
 */
export async function findAddressedTask(
  read: Reader,
  { agentId, taskId }: TaskPath,
  now: number,
): Promise<StoredTaskRow | undefined> {
  const task = await findTask(read, taskId);
  return task?.agent_id === agentId && !isExpired(task, now) ? task : undefined;
}
