import type { ExecutionReceipt } from "../schema.ts";

/** Whether the receipt is signed for this task; both ids are required, no unbound form is taken. */
export function isBoundToTask(receipt: ExecutionReceipt, taskId: string): boolean {
  return receipt.task_id === taskId && receipt.relay_task_id === taskId;
}
