import { RECEIPT_LIMITS } from "../limits.ts";
import type { ExecutionReceipt } from "../schema.ts";

/** When the work of a receipt began and ended, by its signer's clock, in ms. */
export type TimeSpan = Pick<ExecutionReceipt, "submitted_at" | "completed_at">;

/** Whether the work took between -60 s (clocks disagree) and one hour, both ends included. */
export function isTimeSpanAllowed(receipt: ExecutionReceipt): boolean {
  const span = receipt.completed_at - receipt.submitted_at;
  return span >= RECEIPT_LIMITS.minSpanMs && span <= RECEIPT_LIMITS.maxSpanMs;
}

/** Whether nested work lies within the work that it was done for, apart from a minute of two clocks. */
export function isWithinTimeSpan(inner: TimeSpan, outer: TimeSpan): boolean {
  return (
    inner.submitted_at >= outer.submitted_at - RECEIPT_LIMITS.nestedSkewMs &&
    inner.completed_at <= outer.completed_at + RECEIPT_LIMITS.nestedSkewMs
  );
}
