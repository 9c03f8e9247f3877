import type { Services } from "../../services.ts";
import type { Tx } from "../../storage/storage.ts";
import type { StoredTaskRow, TaskRow } from "../../storage/tables/tasks.ts";
import { releaseClaim, type HeldClaim } from "./claim-store.ts";
import { cancelPendingTask, publishEndWithoutReceipt } from "../receipts/end-without-receipt.ts";

/** A task after its claim ended: it waits for an executor again, or it is cancelled. */
export interface ReleasedTask {
  readonly status: "pending" | "cancelled";
  readonly row: TaskRow;
}

/**
 * Decides, in the same transaction, about a task whose claim has just ended: a cancellation requested by
 * its submitter takes effect now.
 */
export async function resolveEndedClaim(
  tx: Tx,
  services: Pick<Services, "runtime">,
  released: StoredTaskRow,
): Promise<ReleasedTask> {
  const { task_id, cancel_requested_at } = released;
  const cancelled =
    cancel_requested_at === null ? undefined : await cancelPendingTask(tx, services, task_id);
  if (cancelled === undefined) return { status: "pending", row: released };
  return { status: "cancelled", row: cancelled };
}

/**
 * Notifies the requests that wait for the task, and publishes its end if it was cancelled, once its release is
 * durable.
 */
export function publishReleasedTask(
  services: Pick<Services, "waiters" | "connections" | "log">,
  { status, row }: ReleasedTask,
): void {
  if (status === "pending") return services.waiters.notify(row.task_id);
  services.log.info("task.cancelled", { correlationId: row.task_id });
  publishEndWithoutReceipt(services, row);
}

/**
 * Releases a claim for its holder; undefined when the claim is not, or no longer, the holder's.
 */
export async function endClaim(
  services: Pick<Services, "storage" | "runtime" | "waiters" | "connections" | "log">,
  claim: Omit<HeldClaim, "now">,
): Promise<ReleasedTask["status"] | undefined> {
  const { storage, runtime } = services;
  const ended = await storage.transaction(async (tx) => {
    const released = await releaseClaim(tx, { ...claim, now: runtime.now() });
    return released && resolveEndedClaim(tx, services, released);
  });
  if (ended !== undefined) publishReleasedTask(services, ended);
  return ended?.status;
}
