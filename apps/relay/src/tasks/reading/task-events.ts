import type { TaskEvent } from "@agent/wire";
import type { StoredTaskRow, TaskRow } from "../../storage/tables/tasks.ts";

type UnnumberedEvent = Omit<TaskEvent, "event_id" | "task_id">;

/** Builds the numbered list of a task's events: its submission, the recorded events, its end. */
export function buildTaskEvents(row: StoredTaskRow): TaskEvent[] {
  const recorded = JSON.parse(row.events) as UnnumberedEvent[];
  const all: UnnumberedEvent[] = [{ type: "submitted", at: row.submitted_at }, ...recorded];
  if (row.finished_at !== null) all.push({ type: endEventType(row), at: row.finished_at });
  return all.map((event, index) => ({ ...event, event_id: index + 1, task_id: row.task_id }));
}

/** Returns the number of a task's newest event. */
export function newestEventId(row: TaskRow & Partial<Pick<StoredTaskRow, "events">>): number {
  const { events = "[]" } = row;
  const recordedCount = events === "[]" ? 0 : (JSON.parse(events) as UnnumberedEvent[]).length;
  return 1 + recordedCount + (row.finished_at === null ? 0 : 1);
}

function endEventType({ status }: TaskRow): UnnumberedEvent["type"] {
  if (status === "pending" || status === "claimed") throw new Error("task has not ended");
  return status;
}
