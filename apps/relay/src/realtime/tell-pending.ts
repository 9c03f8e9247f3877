import type { Task } from "@agent/wire";
import type { Services } from "../services.ts";
import { pendingTasks } from "../tasks/assignment-store.ts";
import { isAbroad, taskOf } from "../tasks/view.ts";

const page = 20;

export interface Listener {
  readonly wants: (task: Task) => boolean;
  /** Resolves when the text is on its way; false when the device is gone. */
  readonly tell: (task: Task) => Promise<boolean>;
}

/** Tells a device what its agent has not begun, oldest first, no faster than the device takes it. */
export async function tellPending(
  { storage, freezer, trustGraph }: Pick<Services, "storage" | "freezer" | "trustGraph">,
  agentId: string,
  { wants, tell }: Listener,
): Promise<void> {
  const query = { executor: agentId, limit: page };
  for (let after = ""; ;) {
    const rows = await pendingTasks(storage.read, { ...query, after, now: freezer.taskTime() });
    for (const row of rows) {
      const task = taskOf(row);
      if (isAbroad(row) || !wants(task) || trustGraph.isBlocked(task.submitted_by, agentId))
        continue;
      if (!(await tell(task))) return;
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < page) return;
    after = last.task_id;
  }
}
