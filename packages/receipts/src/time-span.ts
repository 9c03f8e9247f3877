import { RECEIPT_LIMITS } from "./limits.ts";
import type { ExecutionReceipt } from "./schema.ts";

/** Whether the work took between -60 s (clocks disagree) and one hour, both ends included. */
export function spanHolds(receipt: ExecutionReceipt): boolean {
  const span = receipt.completed_at - receipt.submitted_at;
  return span >= RECEIPT_LIMITS.minSpanMs && span <= RECEIPT_LIMITS.maxSpanMs;
}
