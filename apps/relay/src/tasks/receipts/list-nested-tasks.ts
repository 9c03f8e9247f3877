import { flattenChain, hashReceipt, type ChainLink, type ExecutionReceipt } from "@agent/receipts";
import type { NestedTask } from "@agent/verify";
import type { Reader } from "../../storage/storage.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import { findTask } from "../store.ts";
import { executorOf } from "../task.ts";

/** Lists this relay's statements on the tasks of nested receipts; an unknown task is left out. */
export async function listNestedTasks(
  read: Reader,
  receipt: ExecutionReceipt,
): Promise<NestedTask[]> {
  const stated = await Promise.all(
    flattenChain(receipt).links.map(async (link) => {
      const { relay_task_id, task_id } = link.receipt;
      const task = await findTask(read, relay_task_id ?? task_id);
      return task === undefined ? [] : [describeNestedTask(task, link)];
    }),
  );
  return deduplicate(stated.flat());
}

/**
 * A receipt that merely names a task must not reveal the parties of that task. So both are left out unless
 * they are those of the receipts themselves, or the task ended with this receipt.
 */
function describeNestedTask(task: TaskRow, { receipt, parent }: ChainLink): NestedTask {
  const { task_id, submitted_by } = task;
  const executor = executorOf(task);
  const fits = submitted_by === parent.agent_id && executor === receipt.agent_id;
  return fits || task.receipt_hash === hashReceipt(receipt)
    ? { task_id, submitted_by, executor }
    : { task_id, submitted_by: null, executor: null };
}

/** Keeps one statement per task, preferably the one that names its agents. */
function deduplicate(stated: readonly NestedTask[]): NestedTask[] {
  const byTask = new Map<string, NestedTask>();
  for (const each of stated) {
    if (each.submitted_by !== null || !byTask.has(each.task_id)) byTask.set(each.task_id, each);
  }
  return [...byTask.values()];
}
