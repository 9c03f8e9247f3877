import type { ReceiptStatus } from "@agent/budget";
import { newTrustRecord, recordTask } from "@agent/routing-semiring";
import type { Tx } from "../storage/storage.ts";
import type { TrustRecordRow } from "../storage/tables.ts";
import { recordOf, rowOf } from "./levels.ts";
import { addToHistory, findTrust, putTrust } from "./store.ts";

export interface Outcome {
  readonly delegatorId: string | null;
  readonly executorId: string;
  readonly status: ReceiptStatus;
  /** From submission to receipt by the relay's clock: an executor cannot claim to be faster. */
  readonly latencyMs: number;
  /** Whether money was held for the task: only then does it speak to strangers. */
  readonly priced: boolean;
  readonly now: number;
}

/**
 * Counts a task in what its delegator knows of its executor. Without a delegator, or when they are
 * one, there is nothing to know; a denied task speaks neither for nor against.
 */
export async function recordOutcome(
  tx: Tx,
  { delegatorId, executorId, status, latencyMs, priced, now }: Outcome,
): Promise<TrustRecordRow | undefined> {
  if (delegatorId === null || delegatorId === executorId) return undefined;
  const stored = await findTrust(tx, delegatorId, executorId);
  const before =
    stored === undefined ? newTrustRecord(delegatorId, executorId, now) : recordOf(stored);
  const succeeded = status === "completed";
  const paid = priced && succeeded ? 1 : 0;
  const row = rowOf(
    recordTask(before, { status, latencyMs, now }),
    (stored?.paid_tasks ?? 0) + paid,
  );
  await putTrust(tx, row);
  if (priced && status !== "denied") {
    await addToHistory(tx, {
      agent_id: executorId,
      succeeded: succeeded ? 1 : 0,
      failed: succeeded ? 0 : 1,
      latency_ms: succeeded ? latencyMs : 0,
    });
  }
  return row;
}
