import { limits, refuse, type Refusal } from "@agent/wire";
import type { PendingCount } from "./store.ts";

/** Refuses another request where one of its approvers has too many of the same agent before it. */
export function checkPendingLimit(
  pending: readonly PendingCount[],
): Refusal<"approval.too_many"> | undefined {
  const isFull = pending.some(({ count }) => count >= limits.pendingApprovals);
  if (!isFull) return undefined;
  const detail = `at most ${limits.pendingApprovals} of an hour may wait for one approver`;
  return { ...refuse("approval.too_many", detail), retryAfterSeconds: 60 };
}
