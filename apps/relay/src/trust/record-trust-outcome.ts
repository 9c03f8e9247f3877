import {
  createTrustRecord,
  applyPayment,
  applyTaskOutcome,
  type TaskOutcome,
} from "@agent/routing-semiring";
import type { Tx } from "../storage/storage.ts";
import type { TrustRecordRow } from "../storage/tables/trust.ts";
import { toTrustRecord, toTrustRow, UNKNOWN } from "./levels.ts";
import { addToHistory, findTrust, saveTrustRecord, type HistoryStep } from "./store.ts";

export interface TrustOutcome {
  readonly delegatorId: string | null;
  readonly executorId: string;
  readonly status: TaskOutcome["status"];
  /**
   * The time from submission to receipt by the relay's clock, so that an executor cannot claim to be
   * faster.
   */
  readonly latencyMs: number;
  /** Whether money was held for the task: only then does it count for strangers. */
  readonly priced: boolean;
  /** The task was counted as `unsettled` before, and has now been paid. */
  readonly isPayment?: boolean;
  /** Counts for the delegator alone, and not in the executor's history. */
  readonly pairOnly?: boolean;
  readonly now: number;
}

/** A delegator's trust in an executor after a task. */
export interface RecordedOutcome {
  readonly record: TrustRecordRow;
  readonly levelChanged: boolean;
}

/**
 * Counts a task in its delegator's trust in its executor. Without a delegator, or when both are one
 * agent, there is nothing to count; only a `completed` or a `failed` task changes trust.
 */
export async function recordTrustOutcome(
  tx: Tx,
  outcome: TrustOutcome,
): Promise<RecordedOutcome | undefined> {
  const { delegatorId, executorId, status, latencyMs, priced, isPayment, now } = outcome;
  const { pairOnly = false } = outcome;
  if (delegatorId === executorId) return undefined;
  if ((status === "completed" || status === "failed") && !pairOnly) {
    await addToHistory(tx, { agent_id: executorId, ...buildHistoryStep(outcome) });
  }
  if (delegatorId === null) return undefined;
  const stored = await findTrust(tx, delegatorId, executorId);
  const before =
    stored === undefined ? createTrustRecord(delegatorId, executorId, now) : toTrustRecord(stored);
  const paid = priced && status === "completed" ? 1 : 0;
  const after = isPayment
    ? applyPayment(before, { latencyMs, now })
    : applyTaskOutcome(before, { status, latencyMs, now });
  const record = toTrustRow(after, (stored?.paid_tasks ?? 0) + paid);
  await saveTrustRecord(tx, record);
  return { record, levelChanged: record.trust_level !== (stored?.trust_level ?? UNKNOWN) };
}

const emptyStep: HistoryStep = {
  successful_tasks: 0,
  failed_tasks: 0,
  latency_total_ms: 0,
  free_successful_tasks: 0,
  free_failed_tasks: 0,
  free_latency_total_ms: 0,
};

function buildHistoryStep({ status, latencyMs, priced }: TrustOutcome): HistoryStep {
  const succeeded = status === "completed";
  if (priced && succeeded)
    return { ...emptyStep, successful_tasks: 1, latency_total_ms: latencyMs };
  if (priced) return { ...emptyStep, failed_tasks: 1 };
  if (!succeeded) return { ...emptyStep, free_failed_tasks: 1 };
  return { ...emptyStep, free_successful_tasks: 1, free_latency_total_ms: latencyMs };
}
