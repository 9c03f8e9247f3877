import { recordRelayEvent } from "../../feed/record-event.ts";
import type { Tx } from "../../storage/storage.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import { executorOf } from "../task.ts";

type EventTask = Pick<TaskRow, "task_id" | "agent_id" | "assigned_to" | "submitted_by">;

interface TaskChange {
  readonly type:
    | "submitted"
    | "claimed"
    | "released"
    | "reassigned"
    | "completed"
    | "failed"
    | "denied"
    | "cancelled"
    | "expired";
  readonly at: number;
  /** Only of an end by a receipt. */
  readonly duration_ms?: number;
}

/** Records a change of a task among the events of the relay. */
export function recordTaskEvent(
  tx: Tx,
  task: EventTask,
  { type, at, duration_ms }: TaskChange,
): Promise<void> {
  const { task_id, submitted_by } = task;
  const members = { task_id, agent_id: executorOf(task), submitted_by, duration_ms };
  return recordRelayEvent(tx, { at, type: `task.${type}` }, members);
}
