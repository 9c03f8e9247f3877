import type { Services } from "../../services.ts";
import { listNewestEvents } from "../events/event-store.ts";
import { newestEventId } from "./task-events.ts";

/** Wakes the requests that wait here for tasks which another process has changed. */
export async function wakeWatchers({
  storage,
  waiters,
}: Pick<Services, "storage" | "waiters">): Promise<void> {
  const taskIds = waiters.listWatched();
  if (taskIds.length === 0) return;
  const rows = await listNewestEvents(storage.read, taskIds);
  const newest = new Map(rows.map((row) => [row.task_id, newestEventId(row)]));
  // A task that was watched only after the read is not missing.
  for (const taskId of waiters.listWatched()) {
    if (!taskIds.includes(taskId)) newest.set(taskId, 0);
  }
  waiters.wakeBehind(newest);
}
