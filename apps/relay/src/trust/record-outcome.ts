import {
  newTrustRecord,
  recordPayment,
  recordTask,
  type TaskOutcome,
} from "@agent/routing-semiring";
import type { Tx } from "../storage/storage.ts";
import type { TrustRecordRow } from "../storage/tables/trust.ts";
import { recordOf, rowOf, UNKNOWN } from "./levels.ts";
import { addToHistory, findTrust, putTrust, type HistoryStep } from "./store.ts";

export interface Outcome {
  readonly delegatorId: string | null;
  readonly executorId: string;
  readonly status: TaskOutcome["status"];
  /** From submission to receipt by the relay's clock: an executor cannot claim to be faster. */
  readonly latencyMs: number;
  /** Whether money was held for the task: only then does it speak to strangers. */
  readonly priced: boolean;
  /** The task was counted as `unsettled` before, and has now been paid. */
  readonly isPayment?: boolean;
  /** Counts for the delegator alone, and not in the executor's history. */
  readonly pairOnly?: boolean;
  readonly now: number;
}

/** What a delegator knows of an executor after a task. */
export interface Recorded {
  readonly record: TrustRecordRow;
  readonly levelChanged: boolean;
}

/**
 * Counts a task in what its delegator knows of its executor. Without a delegator, or when they are
 * one, there is nothing to know; only a `completed` and a `failed` task speak for or against.
 */
export async function recordOutcome(tx: Tx, outcome: Outcome): Promise<Recorded | undefined> {
  const { delegatorId, executorId, status, latencyMs, priced, isPayment, now } = outcome;
  const { pairOnly = false } = outcome;
  if (delegatorId === executorId) return undefined;
  if ((status === "completed" || status === "failed") && !pairOnly) {
    await addToHistory(tx, { agent_id: executorId, ...historyStep(outcome) });
  }
  if (delegatorId === null) return undefined;
  const stored = await findTrust(tx, delegatorId, executorId);
  const before =
    stored === undefined ? newTrustRecord(delegatorId, executorId, now) : recordOf(stored);
  const paid = priced && status === "completed" ? 1 : 0;
  const after = isPayment
    ? recordPayment(before, { latencyMs, now })
    : recordTask(before, { status, latencyMs, now });
  const record = rowOf(after, (stored?.paid_tasks ?? 0) + paid);
  await putTrust(tx, record);
  return { record, levelChanged: record.trust_level !== (stored?.trust_level ?? UNKNOWN) };
}

const nothing: HistoryStep = {
  successful_tasks: 0,
  failed_tasks: 0,
  latency_total_ms: 0,
  free_successful_tasks: 0,
  free_failed_tasks: 0,
  free_latency_total_ms: 0,
};

function historyStep({ status, latencyMs, priced }: Outcome): HistoryStep {
  const succeeded = status === "completed";
  if (priced && succeeded) return { ...nothing, successful_tasks: 1, latency_total_ms: latencyMs };
  if (priced) return { ...nothing, failed_tasks: 1 };
  if (!succeeded) return { ...nothing, free_failed_tasks: 1 };
  return { ...nothing, free_successful_tasks: 1, free_latency_total_ms: latencyMs };
}
