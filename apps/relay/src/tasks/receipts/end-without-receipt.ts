import { releaseHold } from "../../budget/reserve-hold.ts";
import { voidForwardedTask } from "../../federation/void-forwarded-task.ts";
import type { Services } from "../../services.ts";
import type { Tx } from "../../storage/storage.ts";
import type { TaskRow } from "../../storage/tables/tasks.ts";
import { recordTaskEvent } from "../events/record-task-event.ts";
import { releaseTaskSlot } from "../submission/task-quota.ts";
import { releaseDelegationBudget } from "../submission/delegation-budget.ts";
import { cancelPending } from "../store.ts";
import { executorOf } from "../task.ts";

/**
 * Ends a task without a receipt, in the caller's transaction: releases its hold, its delegation
 * budget, its state between relays and its slot among the open tasks.
 */
export async function endWithoutReceipt(
  tx: Tx,
  { runtime }: Pick<Services, "runtime">,
  row: TaskRow,
  reason: "cancelled" | "expired",
): Promise<void> {
  await releaseHold(tx, runtime, row, reason);
  await releaseDelegationBudget(tx, row);
  await voidForwardedTask(tx, row, runtime.now());
  await releaseTaskSlot(tx, row.submitted_by);
  await recordTaskEvent(tx, row, { type: reason, at: runtime.now() });
  tx.noteChange("ended", row.task_id, executorOf(row));
}

/** Cancels a pending task and ends it without a receipt; undefined if it is not pending, or no longer. */
export async function cancelPendingTask(
  tx: Tx,
  services: Pick<Services, "runtime">,
  taskId: string,
): Promise<TaskRow | undefined> {
  const cancelled = await cancelPending(tx, taskId, services.runtime.now());
  if (cancelled !== undefined) await endWithoutReceipt(tx, services, cancelled, "cancelled");
  return cancelled;
}

/** Notifies waiting requests and the executor's devices, once the end is durable. */
export function publishEndWithoutReceipt(
  { waiters, connections }: Pick<Services, "waiters" | "connections">,
  row: TaskRow,
): void {
  notifyOfEnd({ waiters, connections }, row.task_id, executorOf(row));
}

/** Notifies the requests and devices of this process of a task's end without a receipt. */
export function notifyOfEnd(
  { waiters, connections }: Pick<Services, "waiters" | "connections">,
  task_id: string,
  executor: string,
): void {
  waiters.notify(task_id);
  for (const connection of connections.forAgent(executor)) {
    connection.claimed.delete(task_id);
    connection.send({ type: "task_cancelled", task_id });
  }
}
