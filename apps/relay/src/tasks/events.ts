import type { TaskEvent } from "@agent/wire";
import type { StoredTaskRow, TaskRow } from "../storage/tables/tasks.ts";

type Noted = Omit<TaskEvent, "event_id" | "task_id">;

/** The one numbered list of what happened to a task: its beginning, what was noted, its end. */
export function eventsOf(row: StoredTaskRow): TaskEvent[] {
  const noted = JSON.parse(row.events) as Noted[];
  const all: Noted[] = [{ type: "submitted", at: row.submitted_at }, ...noted];
  if (row.finished_at !== null) all.push({ type: endOf(row), at: row.finished_at });
  return all.map((event, index) => ({ ...event, event_id: index + 1, task_id: row.task_id }));
}

/** The number of a task's newest event. */
export function lastEventOf(row: TaskRow & Partial<Pick<StoredTaskRow, "events">>): number {
  const { events = "[]" } = row;
  const noted = events === "[]" ? 0 : (JSON.parse(events) as Noted[]).length;
  return 1 + noted + (row.finished_at === null ? 0 : 1);
}

function endOf({ status }: TaskRow): Noted["type"] {
  if (status === "pending" || status === "claimed") throw new Error("the task has not ended");
  return status;
}
