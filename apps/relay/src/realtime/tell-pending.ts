import type { Task } from "@agent/wire";
import type { Services } from "../services.ts";
import { pendingTasks } from "../tasks/assignment-store.ts";
import { taskOf } from "../tasks/view.ts";

const page = 20;

export interface Listener {
  readonly agentId: string;
  /** What was offered while older tasks were still being told. */
  readonly told: ReadonlySet<string>;
  /** Resolves when the text is on its way; false when the device is gone. */
  readonly tell: (task: Task) => Promise<boolean>;
}

/** Tells a device what its agent has not begun, oldest first, no faster than the device takes it. */
export async function tellPending(
  { storage, runtime, trustGraph }: Pick<Services, "storage" | "runtime" | "trustGraph">,
  { agentId, told, tell }: Listener,
): Promise<void> {
  const query = { executor: agentId, limit: page };
  for (let after = ""; ;) {
    const tasks = await pendingTasks(storage.read, { ...query, after, now: runtime.now() });
    for (const task of tasks) {
      if (told.has(task.task_id) || trustGraph.isBlocked(task.submitted_by, agentId)) continue;
      if (!(await tell(taskOf(task)))) return;
    }
    const last = tasks.at(-1);
    if (last === undefined || tasks.length < page) return;
    after = last.task_id;
  }
}
