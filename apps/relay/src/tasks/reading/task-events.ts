import { limits, type TaskEvent } from "@agent/wire";
import type { Reader } from "../../storage/storage.ts";
import type { StoredTaskRow, TaskEventRow, TaskRow } from "../../storage/tables/tasks.ts";
import { listEventRows, type WatchedTask } from "../events/event-store.ts";

/**
 * Lists the next events of a task after a number: its submission, the recorded events, its end. At most one
 * page of recorded events is read; the next page begins after its last event.
 */
export async function listNextEvents(
  read: Reader,
  task: WatchedTask,
  after: number,
): Promise<TaskEvent[]> {
  const { task_id, first_claimed_at, submitted_at, event_count } = task;
  const events: TaskEvent[] = [{ event_id: 1, type: "submitted", at: submitted_at, task_id }];
  if (first_claimed_at !== null) {
    events.push({ event_id: 2, type: "claimed", at: first_claimed_at, task_id });
  }
  const known = Math.max(after, events.length);
  const lastRecorded = 1 + event_count;
  if (known < lastRecorded) {
    const page = { task_id, after: known, limit: limits.eventPage };
    events.push(...(await listEventRows(read, page)).map(toTaskEvent));
  }
  const newest = newestEventId(task);
  const isRecorded = Math.max(after, events.at(-1)?.event_id ?? 0) >= lastRecorded;
  if (task.finished_at !== null && isRecorded) {
    events.push({ event_id: newest, type: getEndType(task), at: task.finished_at, task_id });
  }
  return events.filter(({ event_id }) => event_id > after);
}

/** Returns the number of a task's newest event. */
export function newestEventId({
  event_count = 0,
  finished_at,
}: Pick<TaskRow, "finished_at"> & Partial<Pick<StoredTaskRow, "event_count">>): number {
  return 1 + event_count + (finished_at === null ? 0 : 1);
}

function toTaskEvent({ task_id, event_id, type, at, note, assigned_to }: TaskEventRow): TaskEvent {
  return {
    event_id,
    type,
    at,
    task_id,
    ...(note !== null && { note }),
    ...(assigned_to !== null && { assigned_to }),
  };
}

function getEndType({ status }: Pick<TaskRow, "status">): TaskEvent["type"] {
  if (status === "pending" || status === "claimed") throw new Error("task has not ended");
  return status;
}
