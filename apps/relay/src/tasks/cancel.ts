import { refuse, type Answer, type Operations, type Refusal } from "@agent/wire";
import type { KeepAnswer } from "../http/idempotency.ts";
import { actsFor, type Caller } from "../identity/caller.ts";
import { requestPeerCancel } from "../federation/request-peer-cancel.ts";
import { isWithPeer } from "../federation/parties.ts";
import { workerOf } from "../realtime/connections.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import type { StoredTaskRow, TaskRow } from "../storage/tables/tasks.ts";
import { requestCancel } from "./assignment-store.ts";
import { announceEndWithoutReceipt, endWithoutReceipt } from "./end-without-receipt.ts";
import { cancelPending, findTask } from "./store.ts";
import { executorOf, isGone } from "./view.ts";

export type CancelServices = Pick<
  Services,
  "storage" | "runtime" | "waiters" | "connections" | "router" | "federation"
>;

interface Cancellation {
  readonly agentId: string;
  readonly taskId: string;
  readonly caller: Caller;
  readonly keep?: KeepAnswer | undefined;
}

/** What a cancel came to: the task is cancelled, or the holder of its claim was asked to stop. */
export type Cancelled =
  | { readonly ok: true; readonly status: "cancelled"; readonly row: TaskRow }
  | {
      readonly ok: true;
      readonly status: "claimed";
      readonly row: StoredTaskRow;
      readonly cancel_requested_at: number;
    }
  | Refusal<"task.not_pending">;

/** Cancels a task for its submitter, at once or as soon as its executor agrees (docs/decisions.md, 4). */
export async function cancel(
  services: CancelServices,
  { agentId, taskId, caller, keep }: Cancellation,
): Promise<Answer<Operations["cancelTask"]>> {
  const { storage, runtime } = services;
  const task = await findTask(storage.read, taskId);
  if (task === undefined || task.agent_id !== agentId || isGone(task, runtime.now())) {
    return refuse("task.not_found");
  }
  if (!actsFor(caller, [task.submitted_by])) return refuse("task.not_submitter");
  const done = await storage.transaction(async (tx) => {
    const cancelled = await cancelInTx(tx, services, taskId);
    if (!cancelled.ok) return cancelled;
    const answer = answerOf(cancelled);
    await keep?.(tx, answer);
    return { ok: true as const, cancelled, answer };
  });
  if (!done.ok) return done;
  announceCancel(services, done.cancelled);
  return done.answer;
}

function answerOf(cancelled: Cancelled & { readonly ok: true }) {
  const { task_id } = cancelled.row;
  if (cancelled.status === "cancelled") {
    return { status: 200 as const, body: { task_id, status: cancelled.status } };
  }
  const { status, cancel_requested_at } = cancelled;
  return { status: 202 as const, body: { task_id, status, cancel_requested_at } };
}

/** Cancels a task that is not claimed, and asks for the cancel of one that is. */
export async function cancelInTx(
  tx: Tx,
  services: Pick<Services, "runtime">,
  taskId: string,
): Promise<Cancelled> {
  const now = services.runtime.now();
  const cancelled = await cancelPending(tx, taskId, now);
  if (cancelled !== undefined) {
    await endWithoutReceipt(tx, services, cancelled, "cancelled");
    return { ok: true, status: "cancelled", row: cancelled };
  }
  const asked = await requestCancel(tx, taskId, now);
  if (asked === undefined) return refuse("task.not_pending");
  if (isWithPeer(asked)) await requestPeerCancel(tx, asked.task_id, now);
  return {
    ok: true,
    status: "claimed",
    row: asked,
    cancel_requested_at: asked.cancel_requested_at ?? now,
  };
}

/** Tells of the cancel once it is durable: who waits for the task, and who is to stop. */
export function announceCancel(
  services: Omit<CancelServices, "storage" | "runtime">,
  cancelled: Cancelled & { readonly ok: true },
): void {
  const { row } = cancelled;
  const { task_id } = row;
  if (cancelled.status === "cancelled") return announceEndWithoutReceipt(services, row);
  services.waiters.changed(task_id);
  if (isWithPeer(row)) return services.federation?.wake();
  for (const connection of services.connections.of(executorOf(row))) {
    if (workerOf(connection) === row.claimed_by) {
      connection.send({ type: "cancel_requested", task_id });
    }
  }
  services.router.cancelCall(task_id);
}
