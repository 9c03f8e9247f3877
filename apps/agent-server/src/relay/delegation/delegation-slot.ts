import type { Caller } from "../../caller.ts";
import type { WorkTask } from "../../execution/task.ts";

/** One of the delegations that each attempt at a relay task makes in the same way. */
export interface DelegationSlot {
  readonly taskId: string;
  /** SHA-256, hex. */
  readonly requestHash: string;
  /** The number of equal requests before it in the same attempt. */
  readonly ordinal: number;
}

/**
 * Returns the relay's id of a task that the relay itself sent; undefined for other tasks, because their callers
 * may name any id.
 */
export function getSentTaskId(
  caller: Caller,
  { relayTaskId }: Pick<WorkTask, "relayTaskId">,
): string | undefined {
  return caller.kind === "relay" ? relayTaskId : undefined;
}

/**
 * Names a delegation of a relay task, which a further attempt at the task makes again. Undefined for other tasks,
 * which have no further attempts.
 */
export function buildDelegationSlot({
  task,
  caller,
  requestHash,
  ordinal,
}: Omit<DelegationSlot, "taskId"> & {
  readonly task: Pick<WorkTask, "relayTaskId">;
  readonly caller: Caller;
}): DelegationSlot | undefined {
  const taskId = getSentTaskId(caller, task);
  return taskId === undefined ? undefined : { taskId, requestHash, ordinal };
}
