import { refuse, type Answer, type Operations, type Refusal } from "@agent/wire";
import type { SaveResponse } from "../../http/server/idempotency.ts";
import { mayActFor, type Caller } from "../../identity/caller.ts";
import { enqueuePeerCancel } from "../../federation/cancellation/enqueue-peer-cancel.ts";
import { isClaimedByPeer } from "../../federation/peer-ref.ts";
import { claimantIdOf } from "../../realtime/connections.ts";
import type { Services } from "../../services.ts";
import type { Tx } from "../../storage/storage.ts";
import type { StoredTaskRow, TaskRow } from "../../storage/tables/tasks.ts";
import { markCancelRequested } from "./claim-store.ts";
import { cancelPendingTask, publishEndWithoutReceipt } from "../receipts/end-without-receipt.ts";
import { findAddressedTask } from "../find-addressed-task.ts";
import { executorOf } from "../task.ts";

export type CancelServices = Pick<
  Services,
  "storage" | "runtime" | "waiters" | "connections" | "router" | "federation"
>;

interface CancelRequest {
  readonly agentId: string;
  readonly taskId: string;
  readonly caller: Caller;
  readonly saveResponse?: SaveResponse | undefined;
}

/**
 * The outcome of a cancel: the task is cancelled, or the holder of its claim was asked to stop.
 */
export type CancelOutcome =
  | { readonly ok: true; readonly status: "cancelled"; readonly row: TaskRow }
  | {
      readonly ok: true;
      readonly status: "claimed";
      readonly row: StoredTaskRow;
      readonly cancel_requested_at: number;
    }
  | Refusal<"task.not_pending">;

/**
 * Cancels a task for its submitter, at once or as soon as its executor agrees (docs/decisions.md,
 * 4).
 */
export async function cancelTask(
  services: CancelServices,
  { agentId, taskId, caller, saveResponse }: CancelRequest,
): Promise<Answer<Operations["cancelTask"]>> {
  const { storage, runtime } = services;
  const task = await findAddressedTask(storage.read, { agentId, taskId }, runtime.now());
  if (task === undefined) return refuse("task.not_found");
  if (!mayActFor(caller, [task.submitted_by])) return refuse("task.not_submitter");
  const done = await storage.transaction(async (tx) => {
    const cancelled = await cancelInTransaction(tx, services, taskId);
    if (!cancelled.ok) return cancelled;
    const answer = toCancelAnswer(cancelled);
    await saveResponse?.(tx, answer);
    return { ok: true as const, cancelled, answer };
  });
  if (!done.ok) return done;
  publishCancel(services, done.cancelled);
  return done.answer;
}

function toCancelAnswer(cancelled: CancelOutcome & { readonly ok: true }) {
  const { task_id } = cancelled.row;
  if (cancelled.status === "cancelled") {
    return { status: 200 as const, body: { task_id, status: cancelled.status } };
  }
  const { status, cancel_requested_at } = cancelled;
  return { status: 202 as const, body: { task_id, status, cancel_requested_at } };
}

/** Cancels a task that is not claimed, and requests the cancel of one that is. */
export async function cancelInTransaction(
  tx: Tx,
  services: Pick<Services, "runtime">,
  taskId: string,
): Promise<CancelOutcome> {
  const cancelled = await cancelPendingTask(tx, services, taskId);
  if (cancelled !== undefined) return { ok: true, status: "cancelled", row: cancelled };
  const now = services.runtime.now();
  const requested = await markCancelRequested(tx, taskId, now);
  if (requested === undefined) return refuse("task.not_pending");
  if (isClaimedByPeer(requested)) await enqueuePeerCancel(tx, requested.task_id, now);
  else tx.noteChange("cancel", taskId, executorOf(requested), requested.claimed_by ?? "");
  return {
    ok: true,
    status: "claimed",
    row: requested,
    cancel_requested_at: requested.cancel_requested_at ?? now,
  };
}

/** Notifies waiting requests and the executor of a cancel, once it is durable. */
export function publishCancel(
  services: Omit<CancelServices, "storage" | "runtime">,
  cancelled: CancelOutcome & { readonly ok: true },
): void {
  const { row } = cancelled;
  const { task_id } = row;
  if (cancelled.status === "cancelled") return publishEndWithoutReceipt(services, row);
  services.waiters.notify(task_id);
  if (isClaimedByPeer(row)) return services.federation?.wake();
  notifyOfCancelRequest(services, {
    task_id,
    executor: executorOf(row),
    claimed_by: row.claimed_by,
  });
}

/** Tells the holder of a claim, if it is connected to this process or called by it, to stop. */
export function notifyOfCancelRequest(
  { connections, router }: Pick<Services, "connections" | "router">,
  {
    task_id,
    executor,
    claimed_by,
  }: { readonly task_id: string; readonly executor: string; readonly claimed_by: string | null },
): void {
  for (const connection of connections.forAgent(executor)) {
    if (claimantIdOf(connection) === claimed_by) {
      connection.send({ type: "cancel_requested", task_id });
    }
  }
  router.cancelCall(task_id);
}
