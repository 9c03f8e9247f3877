import { flattenChain, hashReceipt, type ChainLink, type ExecutionReceipt } from "@agent/receipts";
import type { NestedTask } from "@agent/verify";
import type { Reader } from "../../storage/storage.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import { findTask } from "../store.ts";
import { executorOf } from "../task.ts";

/** What this relay knows of the tasks of nested receipts; a task that it does not know is left out. */
export async function listNestedTasks(
  read: Reader,
  receipt: ExecutionReceipt,
): Promise<NestedTask[]> {
  const stated = await Promise.all(
    flattenChain(receipt).links.map(async (link) => {
      const { relay_task_id, task_id } = link.receipt;
      const task = await findTask(read, relay_task_id ?? task_id);
      return task === undefined ? [] : [toNestedTask(task, link)];
    }),
  );
  return deduplicate(stated.flat());
}

/**
 * A receipt that only names a task must not make the relay tell whose task that is. So both names are left
 * out unless they are those of the receipts themselves, or the receipt is the one that the task ended with.
 */
function toNestedTask(task: TaskRow, { receipt, parent }: ChainLink): NestedTask {
  const { task_id, submitted_by } = task;
  const executor = executorOf(task);
  const fits = submitted_by === parent.agent_id && executor === receipt.agent_id;
  return fits || task.receipt_hash === hashReceipt(receipt)
    ? { task_id, submitted_by, executor }
    : { task_id, submitted_by: null, executor: null };
}

/** One statement a task, the one that names its agents before the one that does not. */
function deduplicate(stated: readonly NestedTask[]): NestedTask[] {
  const byTask = new Map<string, NestedTask>();
  for (const each of stated) {
    if (each.submitted_by !== null || !byTask.has(each.task_id)) byTask.set(each.task_id, each);
  }
  return [...byTask.values()];
}
