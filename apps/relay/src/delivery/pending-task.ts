import type { Services } from "../services.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { findTask } from "../tasks/store.ts";
import { executorOf, isOpen } from "../tasks/task.ts";

/** Returns a task that waits for its executor. */
export async function findPending(
  { storage, runtime }: Pick<Services, "storage" | "runtime">,
  taskId: string,
): Promise<TaskRow | undefined> {
  const task = await findTask(storage.read, taskId);
  return task?.status === "pending" && isOpen(task, runtime.now()) ? task : undefined;
}

/** Returns whether the payer of a task blocked its executor. */
export function isBlocked({ trustGraph }: Pick<Services, "trustGraph">, task: TaskRow): boolean {
  return trustGraph.isBlocked(task.submitted_by, executorOf(task));
}
