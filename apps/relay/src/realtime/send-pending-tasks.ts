import type { Task } from "@agent/wire";
import type { Services } from "../services.ts";
import { listPendingTasks } from "../tasks/assignment/assignment-store.ts";
import { isForwarded } from "../tasks/task.ts";
import { toTask } from "../tasks/task-view.ts";

const PAGE_SIZE = 20;

export interface PendingTaskSink {
  readonly filter: (task: Task) => boolean;
  /** Resolves once the text was written to the socket; false when the device has disconnected. */
  readonly send: (task: Task) => Promise<boolean>;
}

/**
 * Sends a device its agent's pending tasks, oldest first, no faster than the device reads them.
 */
export async function sendPendingTasks(
  { storage, freezer, trustGraph }: Pick<Services, "storage" | "freezer" | "trustGraph">,
  agentId: string,
  { filter, send }: PendingTaskSink,
): Promise<void> {
  const query = { executor: agentId, limit: PAGE_SIZE };
  for (let after = ""; ;) {
    const rows = await listPendingTasks(storage.read, { ...query, after, now: freezer.taskTime() });
    for (const row of rows) {
      const task = toTask(row);
      if (isForwarded(row) || !filter(task) || trustGraph.isBlocked(task.submitted_by, agentId))
        continue;
      if (!(await send(task))) return;
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_SIZE) return;
    after = last.task_id;
  }
}
