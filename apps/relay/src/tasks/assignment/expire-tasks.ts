import { isForwardConfirmed } from "../../federation/outbound/is-forward-confirmed.ts";
import { isClaimedByPeer } from "../../federation/peer-ref.ts";
import { runInBatches } from "../../storage/run-in-batches.ts";
import type { Tx } from "../../storage/storage.ts";
import type { StoredTaskRow } from "../../storage/tables/tasks.ts";
import { isWorkedOnAtExpiry } from "./claim-rules.ts";
import { publishReputation, type ReputationUpdate } from "../receipts/record-task-outcome.ts";
import type { ExpireServices } from "./expire-lease.ts";
import { markNoShowsExpired } from "./no-show-store.ts";
import { recordNoShow } from "./record-no-show.ts";
import { isClaimedByEndpoint } from "../task.ts";
import { publishEndWithoutReceipt, endWithoutReceipt } from "../receipts/end-without-receipt.ts";
import { deleteExpiredTask, insertExpiredTask, listExpiredTasks } from "./expired-task-store.ts";
import { toTaskWithoutPrompt } from "../task-view.ts";

/**
 * Removes expired tasks and returns their holds, including those that expired while the relay was
 * down.
 */
export async function expireTasks(services: ExpireServices): Promise<void> {
  const { storage, runtime, log } = services;
  await runInBatches(async (limit) => {
    const due = await listExpiredTasks(storage.read, runtime.now(), limit);
    await Promise.all(
      due.map(async ({ task_id }) => {
        const removed = await storage.transaction(async (tx) => {
          const row = await deleteExpiredTask(tx, task_id, runtime.now());
          if (row === undefined) return undefined;
          const reputationUpdate = await recordNoShowAtExpiry(tx, services, row);
          await markNoShowsExpired(tx, task_id);
          await endWithoutReceipt(tx, services, row, "expired");
          await saveExpiredTask(tx, row, runtime.now());
          return { row, reputationUpdate };
        });
        if (removed === undefined) return;
        log.info("task.expired", { correlationId: task_id });
        publishEndWithoutReceipt(services, removed.row);
        if (removed.reputationUpdate !== undefined) {
          publishReputation(services, task_id, removed.reputationUpdate);
        }
      }),
    );
    return due.length;
  });
}

/**
 * Records a no-show when the holder of a claim no longer worked on it at the task's expiry. A holder that was
 * asked to cancel may stop working, however much time the task still had.
 */
async function recordNoShowAtExpiry(
  tx: Tx,
  services: ExpireServices,
  row: StoredTaskRow,
): Promise<ReputationUpdate | undefined> {
  const { worked_at, expires_at, cancel_requested_at } = row;
  if (row.status !== "claimed") return undefined;
  if (isClaimedByPeer(row)) {
    // A forward without the peer's confirmation may never have arrived, and a peer that the
    // operator removed cannot return the result.
    return (await isForwardConfirmed(tx, row.task_id))
      ? recordNoShow(tx, services, row)
      : undefined;
  }
  if (cancel_requested_at !== null) return undefined;
  const inCall = isClaimedByEndpoint(row);
  return isWorkedOnAtExpiry({ worked_at, expires_at, inCall })
    ? undefined
    : recordNoShow(tx, services, row);
}

/** Keeps an expired task for the operator's lists, because its own row is deleted. */
async function saveExpiredTask(tx: Tx, row: StoredTaskRow, now: number): Promise<void> {
  const { task_id, agent_id, submitted_by, attempts, attempt } = row;
  const kept = { ...toTaskWithoutPrompt(row), status: "expired", attempts, attempt };
  const task = JSON.stringify(kept);
  await insertExpiredTask(tx, { task_id, agent_id, submitted_by, expired_at: now, task });
}
