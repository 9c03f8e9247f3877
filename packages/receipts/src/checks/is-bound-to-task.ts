import type { ExecutionReceipt } from "../schema.ts";

/**
 * Returns whether the receipt is signed for this task. Both ids must match, so a receipt without them
 * fails.
 */
export function isBoundToTask(receipt: ExecutionReceipt, taskId: string): boolean {
  return receipt.task_id === taskId && receipt.relay_task_id === taskId;
}
