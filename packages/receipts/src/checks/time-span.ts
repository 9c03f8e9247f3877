import { RECEIPT_LIMITS } from "../limits.ts";
import type { ExecutionReceipt } from "../schema.ts";

/** The start and the end of a receipt's work, in ms by the signer's clock. */
export type TimeSpan = Pick<ExecutionReceipt, "submitted_at" | "completed_at">;

/**
 * Returns whether the work took between -60 s (because clocks disagree) and one hour, both inclusive. A
 * receipt with any other span is refused with `receipt.span`.
 */
export function isTimeSpanAllowed({ submitted_at, completed_at }: TimeSpan): boolean {
  const span = completed_at - submitted_at;
  return span >= RECEIPT_LIMITS.minSpanMs && span <= RECEIPT_LIMITS.maxSpanMs;
}

/**
 * Returns whether nested work lies within the work around it, with a tolerance of one minute for
 * two clocks.
 */
export function isWithinTimeSpan(inner: TimeSpan, outer: TimeSpan): boolean {
  return (
    inner.submitted_at >= outer.submitted_at - RECEIPT_LIMITS.nestedSkewMs &&
    inner.completed_at <= outer.completed_at + RECEIPT_LIMITS.nestedSkewMs
  );
}
