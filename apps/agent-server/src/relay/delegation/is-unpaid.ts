import type { CallRefusal } from "@agent/client";
import { isFinalRefusal } from "../is-final-refusal.ts";

/** The end of a delegation without a receipt; `taskId` names its task, if one is known to exist. */
export type EndedDelegation = Pick<CallRefusal, "code" | "status"> & {
  readonly taskId?: string | undefined;
};

/**
 * Returns whether no task of this delegation will be paid: it was cancelled, it expired, or the relay refused to create
 * it. A refusal of the idempotency key is about a task that an earlier attempt created.
 */
export function isUnpaid({ code, status, taskId }: EndedDelegation): boolean {
  if (taskId !== undefined) return code === "task.cancelled" || code === "task.not_found";
  return isFinalRefusal({ code, status }) && !code.startsWith("idempotency.");
}
