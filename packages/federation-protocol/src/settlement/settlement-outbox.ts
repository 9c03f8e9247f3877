import { fromMicro } from "@agent/budget";
import {
  type Delivery,
  isPeerFrozen,
  isDeferred,
  classifyDelivery,
  getNextAttemptTime,
} from "../delivery/delivery.ts";
import type { ReportedSettlements } from "../messages/settlement.ts";
import type { OutgoingSettlement } from "./outgoing-settlement.ts";
import type { RetrySchedule } from "../delivery/retry-schedule.ts";

/** A listed settlement with any other status has not been paid. */
const BOOKED_STATUSES = ["settled", "completed", "partial"];
const MAX_ASKS = 3;
const MAX_ROUNDS = 3;
/** Without this limit, a peer that keeps deferring a settlement would hold the payer's money indefinitely. */
const MAX_DEFERRAL_MS = 7 * 24 * 60 * 60 * 1_000;

/** Returns the step that a settlement needs now. */
export function getNextStep(
  { state, phase, dueAt }: OutgoingSettlement,
  now: number,
): "forward" | "ask" | null {
  if (state !== "pending" || dueAt === null || dueAt > now) return null;
  return phase === "forwarding" ? "forward" : "ask";
}

/**
 * Returns the state to store before an attempt is sent, so that after a crash the attempt counts as
 * possibly delivered.
 */
export function beginAttempt(
  settlement: OutgoingSettlement,
  { pauses, settleDownMs }: RetrySchedule,
  now: number,
): OutgoingSettlement {
  const pause = pauses[settlement.attemptsInRound];
  return {
    ...settlement,
    attempts: settlement.attempts + 1,
    attemptsInRound: settlement.attemptsInRound + 1,
    lastAttemptAt: now,
    phase: pause === undefined ? "asking" : "forwarding",
    // A copy is still accepted in the last millisecond of its lifetime.
    dueAt: now + (pause ?? settleDownMs + 1),
  };
}

/**
 * Applies the result of an attempt (docs/decisions.md, 7). If the answer is lost, the outcome is unknown,
 * never failed. Even a refusal does not prove that an earlier copy was not booked, so it only ends the
 * attempts. An answer of 429 or 503 does not use up an attempt during the first 7 days of the settlement,
 * and the next attempt waits for its `Retry-After`. If no attempt ever reached the peer, nothing can have
 * been booked and the peer is not asked.
 */
export function endAttempt(
  settlement: OutgoingSettlement,
  delivery: Delivery,
  schedule: Pick<RetrySchedule, "pauses" | "settleDownMs"> & { readonly now: number },
): OutgoingSettlement {
  const { settleDownMs, now } = schedule;
  const outcome = classifyDelivery(delivery);
  if (outcome === "accepted") return markPaid(settlement);
  if (settlement.state !== "pending") return settlement;
  if (mayDefer(settlement, delivery, now)) return revertAttempt(settlement, delivery, schedule);
  if (delivery.kind === "unreachable") {
    const counted = { ...settlement, unreached: settlement.unreached + 1 };
    const neverArrived = counted.phase === "asking" && counted.unreached === counted.attempts;
    return neverArrived ? markUnpaid(counted, now) : counted;
  }
  if (!endsAttempts(delivery)) return settlement;
  const dueAt = (settlement.lastAttemptAt ?? now) + settleDownMs + 1;
  return { ...settlement, phase: "asking", dueAt };
}

/** Returns the state to store before the peer is asked. */
export function beginAsk(
  settlement: OutgoingSettlement,
  { pauses }: RetrySchedule,
  now: number,
): OutgoingSettlement {
  const asks = settlement.asks + 1;
  return { ...settlement, asks, dueAt: now + (pauses[asks - 1] ?? 0) };
}

/**
 * Applies the peer's list of booked settlements; `list` is null if there was no answer. After three
 * unanswered requests the money stays held for the operator. `delivery` is the result of the request; like
 * an attempt, a request that the peer deferred is made again.
 */
export function endAsk(
  settlement: OutgoingSettlement,
  list: ReportedSettlements | null,
  {
    delivery,
    pauses,
    now,
  }: Pick<RetrySchedule, "pauses"> & { readonly delivery: Delivery; readonly now: number },
): OutgoingSettlement {
  if (settlement.state !== "pending" || settlement.phase !== "asking") return settlement;
  if (mayDefer(settlement, delivery, now)) {
    const dueAt = getNextAttemptTime(settlement.dueAt ?? now, delivery, { pauses, now });
    return { ...settlement, asks: settlement.asks - 1, dueAt };
  }
  if (list === null)
    return settlement.asks < MAX_ASKS ? settlement : markFailed(settlement, "held");
  const isBooked = list.settlements.some(
    (listed) =>
      BOOKED_STATUSES.includes(listed.status ?? "settled") &&
      (isSameSettlement(settlement, listed) || isEarlierSettlement(settlement, listed)),
  );
  return isBooked ? markPaid(settlement) : markUnpaid(settlement, now);
}

type ReportedSettlement = ReportedSettlements["settlements"][number];

function isSameSettlement(
  { settlementId, taskId }: OutgoingSettlement,
  { settlement_id, task_id = taskId }: ReportedSettlement,
): boolean {
  return settlement_id === settlementId && task_id === taskId;
}

/**
 * Returns whether a listed settlement is this relay's own from before its database was restored, under an
 * id that the backup lacks: one with the same task, receipt and amount, because a task is settled once.
 */
function isEarlierSettlement(
  { taskId, receiptHash, terms }: OutgoingSettlement,
  { task_id, receipt_hash, amount }: ReportedSettlement,
): boolean {
  return task_id === taskId && receipt_hash === receiptHash && amount === fromMicro(terms.net);
}

/**
 * Returns the settlement after this relay's clock was set back to `now`: from then on, no attempt or
 * request waits longer than the longest pause. A time that was computed with the wrong clock may be much
 * further ahead.
 */
export function capSettlementDelay(
  settlement: OutgoingSettlement,
  {
    pauses,
    settleDownMs,
    now,
  }: Pick<RetrySchedule, "pauses" | "settleDownMs"> & { readonly now: number },
): OutgoingSettlement {
  const latest = now + Math.max(...pauses, settleDownMs + 1);
  const { dueAt } = settlement;
  return dueAt === null || dueAt <= latest ? settlement : { ...settlement, dueAt: latest };
}

/**
 * Restarts the attempts by decision of the operator. This is safe because the peer books a settlement id
 * only once.
 */
export function redriveSettlement(settlement: OutgoingSettlement, now: number): OutgoingSettlement {
  return settlement.resolution === "held" ? { ...restart(settlement, now), rounds: 0 } : settlement;
}

/** Gives up a held settlement by decision of the operator and refunds its payer. */
export function refundHeldSettlement(settlement: OutgoingSettlement): OutgoingSettlement {
  return settlement.resolution === "held" ? markFailed(settlement, "refunded") : settlement;
}

function mayDefer({ settledAt }: OutgoingSettlement, delivery: Delivery, now: number): boolean {
  return isDeferred(delivery) && now - settledAt < MAX_DEFERRAL_MS;
}

/**
 * Repeats an attempt that the peer deferred, after the same pause. Only the answer of a frozen peer proves
 * that nothing was booked: a proxy may answer 503 in place of a peer that has booked it.
 */
function revertAttempt(
  settlement: OutgoingSettlement,
  delivery: Delivery,
  schedule: Pick<RetrySchedule, "pauses"> & { readonly now: number },
): OutgoingSettlement {
  const { attempts, attemptsInRound, dueAt } = settlement;
  return {
    ...settlement,
    attempts: isPeerFrozen(delivery) ? attempts - 1 : attempts,
    attemptsInRound: attemptsInRound - 1,
    phase: "forwarding",
    dueAt: getNextAttemptTime(dueAt ?? schedule.now, delivery, schedule),
  };
}

/**
 * A settlement refused for lack of credit may be accepted later, so that refusal does not end the attempts.
 */
function endsAttempts(delivery: Delivery): boolean {
  const outcome = classifyDelivery(delivery);
  const lacksCredit = delivery.kind === "answered" && delivery.status === 402;
  return outcome === "duplicate" || (outcome === "refused" && !lacksCredit);
}

function markPaid(settlement: OutgoingSettlement): OutgoingSettlement {
  // A refunded settlement must not be paid as well.
  if (settlement.resolution === "refunded") return settlement;
  return { ...settlement, state: "completed", resolution: "paid", dueAt: null };
}

/**
 * Marks a settlement that the peer certainly did not book. An intermediate relay still owes it and
 * retries.
 */
function markUnpaid(settlement: OutgoingSettlement, now: number): OutgoingSettlement {
  if (settlement.refundable) return markFailed(settlement, "refunded");
  const rounds = settlement.rounds + 1;
  return rounds < MAX_ROUNDS
    ? { ...restart(settlement, now), rounds }
    : markFailed(settlement, "held");
}

function markFailed(
  settlement: OutgoingSettlement,
  resolution: "refunded" | "held",
): OutgoingSettlement {
  return { ...settlement, state: "failed", resolution, dueAt: null };
}

function restart(settlement: OutgoingSettlement, now: number): OutgoingSettlement {
  return {
    ...settlement,
    state: "pending",
    resolution: null,
    phase: "forwarding",
    attemptsInRound: 0,
    asks: 0,
    dueAt: now,
  };
}
