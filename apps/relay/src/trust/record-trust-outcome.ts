import { asMicro } from "@agent/budget";
import {
  createTrustRecord,
  applyPayment,
  applyTaskOutcome,
  computeLeftFee,
  computeUsedFees,
  countsForStrangers,
  type TaskOutcome,
} from "@agent/routing-semiring";
import { findBalance } from "../budget/accounts/find-balance.ts";
import type { Tx } from "../storage/storage.ts";
import type { TrustRecordRow } from "../storage/tables/trust.ts";
import { addToHistory, EMPTY_STEP, type HistoryStep } from "./history-store.ts";
import { toTrustRecord, toTrustRow } from "./levels.ts";
import { findTrustPair } from "./pair-store.ts";
import { saveTrustChange } from "./save-trust-change.ts";

export interface TrustOutcome {
  readonly delegatorId: string | null;
  readonly executorId: string;
  readonly status: TaskOutcome["status"];
  /**
   * The time from submission to receipt by the relay's clock, so that an executor cannot claim to be
   * faster.
   */
  readonly latencyMs: number;
  /** Whether money was held for the task. */
  readonly priced: boolean;
  /** The relay's fee of the task's charge, whatever the outcome, in micro-units, also if the payer owes it. */
  readonly fee: number;
  /** Whether card money that is not released was in the hold of the task, which a refund may take back. */
  readonly hasCardMoney?: boolean;
  /** The task was counted as `unsettled` before, and has now been paid. */
  readonly isPayment?: boolean;
  /** Counts as an interaction that is neither a success nor a failure, and keeps the fee. */
  readonly isNeutral?: boolean;
  /** Counts for the delegator alone, and not in the executor's history. */
  readonly pairOnly?: boolean;
  readonly now: number;
}

/** A delegator's trust in an executor before and after a task. */
export interface RecordedOutcome {
  readonly before: TrustRecordRow | undefined;
  readonly record: TrustRecordRow;
}

/**
 * Counts a task in its delegator's trust in its executor. Without a delegator, or when both are one
 * agent, there is nothing to count; only a `completed` or a `failed` task changes trust.
 */
export async function recordTrustOutcome(
  tx: Tx,
  given: TrustOutcome,
): Promise<RecordedOutcome | undefined> {
  // A task ends before its submission if the clock was set back in between.
  const outcome = { ...given, latencyMs: Math.max(0, given.latencyMs) };
  const { delegatorId, executorId, status, latencyMs, priced, isPayment, isNeutral, now } = outcome;
  const { pairOnly } = outcome;
  if (delegatorId === executorId) return undefined;
  if (delegatorId === null) {
    const step = buildHistoryStep(outcome, false);
    if (step !== undefined) await addToHistory(tx, { agent_id: executorId, ...step });
    return undefined;
  }
  const fee = await findLeftFee(tx, outcome, delegatorId);
  const before = await findTrustPair(tx, delegatorId, executorId);
  const stored = before.record;
  const trusted =
    stored === undefined ? createTrustRecord(delegatorId, executorId, now) : toTrustRecord(stored);
  const counted = isNeutral ? "unsettled" : status;
  // The interaction of a task that has now been paid was counted before.
  const afterPayment = () => (isNeutral ? trusted : applyPayment(trusted, { latencyMs, now }));
  const after = isPayment
    ? afterPayment()
    : applyTaskOutcome(trusted, { status: counted, latencyMs, now });
  const keptFee = status === "completed" ? fee : 0;
  const record = toTrustRow(after, {
    paid_tasks: (stored?.paid_tasks ?? 0) + (priced && status === "completed" ? 1 : 0),
    fees_kept: asMicro((stored?.fees_kept ?? 0) + keptFee),
  });
  const { thresholds, usedFees } = before;
  const payerFees = before.payerFees + keptFee;
  const task = { priced, hasFailed: status === "failed", fee, payerFees, usedFees };
  const isPublic = pairOnly !== true && countsForStrangers(task, thresholds);
  await saveTrustChange(tx, {
    before,
    record,
    step: buildHistoryStep(outcome, isPublic),
    usedFees: isPublic ? computeUsedFees(task, thresholds) : 0,
  });
  return { before: stored, record };
}

/** Returns the part of a task's fee that its payer has left. */
async function findLeftFee(
  tx: Tx,
  { fee, hasCardMoney = false }: Pick<TrustOutcome, "fee" | "hasCardMoney">,
  payerId: string,
): Promise<number> {
  if (fee === 0) return 0;
  return computeLeftFee({ fee, hasCardMoney, payerBalance: await findBalance(tx, payerId) });
}

/** Returns what a task adds to its executor's history; undefined for one that is not counted there. */
function buildHistoryStep(
  { status, latencyMs, pairOnly = false }: TrustOutcome,
  isPublic: boolean,
): HistoryStep | undefined {
  if (pairOnly || (status !== "completed" && status !== "failed")) return undefined;
  const succeeded = status === "completed";
  if (isPublic && succeeded)
    return { ...EMPTY_STEP, successful_tasks: 1, latency_total_ms: latencyMs };
  if (isPublic) return { ...EMPTY_STEP, failed_tasks: 1 };
  if (!succeeded) return { ...EMPTY_STEP, free_failed_tasks: 1 };
  return { ...EMPTY_STEP, free_successful_tasks: 1, free_latency_total_ms: latencyMs };
}
