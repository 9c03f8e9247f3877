import { releaseHold } from "../budget/hold.ts";
import { abandonTask } from "../federation/abandon-task.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { leavePlace } from "./counters.ts";
import { returnToDelegation } from "./delegation-budget.ts";
import { executorOf } from "./view.ts";

/**
 * All that follows when a task ends without a receipt, in the transaction that ends it: its hold goes
 * back, its delegation budget, its state between relays and its place among the open tasks too.
 */
export async function endWithoutReceipt(
  tx: Tx,
  { runtime }: Pick<Services, "runtime">,
  row: TaskRow,
  reason: "cancelled" | "expired",
): Promise<void> {
  await releaseHold(tx, runtime, row, reason);
  await returnToDelegation(tx, row);
  await abandonTask(tx, row);
  await leavePlace(tx, row.submitted_by);
}

/** Tells those who wait for the task and the devices of its executor, once the end is durable. */
export function announceEndWithoutReceipt(
  { waiters, connections }: Pick<Services, "waiters" | "connections">,
  row: TaskRow,
): void {
  const { task_id } = row;
  waiters.changed(task_id);
  for (const connection of connections.of(executorOf(row))) {
    connection.claimed.delete(task_id);
    connection.send({ type: "task_cancelled", task_id });
  }
}
