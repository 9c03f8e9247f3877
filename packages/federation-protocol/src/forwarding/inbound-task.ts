import { asMicro, type Micro } from "@agent/budget";
import {
  type Delivery,
  isPutOff,
  classifyDelivery,
  getNextAttemptTime,
} from "../delivery/delivery.ts";
import type { SettlementTerms } from "../settlement/settlement-terms.ts";
import type { ReceiptStatus } from "./outbound-task.ts";
import type { RetrySchedule } from "../delivery/retry-schedule.ts";

/**
 * The state of a task that a peer sent:
 *
 * - `running`: there is no receipt yet;
 * - `returning`: the receipt is being returned;
 * - a receipt's status: the peer has accepted the receipt;
 * - `void`: the task expired here, or the peer no longer accepts its result.
 */
export type InboundState = "running" | "returning" | ReceiptStatus | "void";

/** A booked settlement, stored so that a repetition gets the same answer. */
export interface BookedTerms extends SettlementTerms {
  readonly settlementId: string;
  /** In ms since the epoch, by this relay's clock. */
  readonly bookedAt: number;
}

/**
 * A task that a peer sent to this relay, with the amount that the peer will owe. Times are in ms since the
 * epoch, by this relay's clock.
 */
export interface InboundTask {
  readonly taskId: string;
  readonly peerId: string;
  readonly agentId: string;
  /** The amount that the peer pays once the task is completed. */
  readonly amount: Micro;
  /** The end that the forward asked for, or an earlier one by the limits of this relay. */
  readonly expiresAt: number;
  readonly state: InboundState;
  readonly receiptHash: string | null;
  readonly receiptStatus: ReceiptStatus | null;
  readonly attempts: number;
  /** The time at which to return the result again; null if never. */
  readonly dueAt: number | null;
  /**
   * True once the peer has answered a completed, paid result that was sent before the task's expiry
   * without accepting it: by a final refusal, or by 202. Rows of earlier versions lack it.
   */
  readonly wasRead?: boolean;
  /**
   * - `open`: the amount is held from the peer's account;
   * - `due`: the peer accepted the result after the hold had expired and must settle it anew;
   * - `defaulted`: the peer accepted or read the result and did not settle in time, so the amount
   *   counts as owed until the peer settles an accepted result or the operator clears it.
   */
  readonly hold: "open" | "due" | "released" | "settled" | "defaulted";
  /**
   * The time at which an `open` or `due` hold without a settlement expires; this millisecond still
   * counts.
   */
  readonly holdUntil: number;
  readonly settlement: BookedTerms | null;
}

type NewInboundTask = Pick<InboundTask, "taskId" | "peerId" | "agentId" | "amount" | "expiresAt">;

/** Creates a task that was just accepted, with its amount held. */
export function createInbound(newTask: NewInboundTask, { holdMs }: RetrySchedule): InboundTask {
  return {
    ...newTask,
    state: "running",
    receiptHash: null,
    receiptStatus: null,
    attempts: 0,
    dueAt: null,
    hold: "open",
    holdUntil: newTask.expiresAt + holdMs,
    settlement: null,
  };
}

/**
 * Records the executor's receipt, which arrived here or from the next relay; it is due for return at
 * once.
 */
export function finishInbound(
  task: InboundTask,
  receipt: { readonly status: ReceiptStatus; readonly receiptHash: string },
  { now, holdMs }: { readonly now: number } & Pick<RetrySchedule, "holdMs">,
): InboundTask {
  if (task.state !== "running") return task;
  return {
    ...task,
    state: "returning",
    receiptStatus: receipt.status,
    receiptHash: receipt.receiptHash,
    dueAt: now,
    holdUntil: now + holdMs,
    // Only completed work is paid.
    hold: receipt.status === "completed" ? task.hold : "released",
  };
}

/** Returns whether the result must be sent (again) now. */
export function isReturnDue({ state, dueAt }: InboundTask, now: number): boolean {
  return state === "returning" && dueAt !== null && dueAt <= now;
}

/**
 * Returns the state to store before a result is sent. The result is retried for as long as the task
 * is stored, in the end at the longest pause, because only the sender's answer shows whether it
 * still waits.
 */
export function beginReturn(
  task: InboundTask,
  { pauses }: RetrySchedule,
  now: number,
): InboundTask {
  const pause = pauses[Math.min(task.attempts, pauses.length - 1)] ?? 0;
  return { ...task, attempts: task.attempts + 1, dueAt: now + pause };
}

/**
 * Applies the peer's answer to a result; any answer that is not final leads to a retry. An answer of
 * 429 or 503 does not count as an attempt, and the next one waits as long as its `Retry-After` says.
 * `sentAt` is the time at which the result was sent, in ms: the peer waits for it until the task's
 * expiry, so a refusal of one that was sent before is not believed. `isSettlementExpired` says that the answer
 * contained a settlement of which the time was not accepted. It comes again only with a further answer, so
 * the result is sent again, unless its hold has expired: a peer must not escape the time to settle by such
 * answers.
 */
export function endReturn(
  task: InboundTask,
  delivery: Delivery,
  schedule: Pick<RetrySchedule, "pauses"> & {
    readonly sentAt: number;
    readonly now: number;
    readonly isSettlementExpired?: boolean;
  },
): InboundTask {
  if (task.state !== "returning") return task;
  switch (classifyDelivery(delivery)) {
    case "accepted":
      // After the hold has expired, only an acceptance starts the time to settle again.
      return schedule.isSettlementExpired === true && task.hold !== "released"
        ? markTaken(task)
        : acknowledgeReturn(task);
    case "refused":
    case "duplicate":
      return abandonReturn(markRead(task, schedule));
    case "pending":
      return markRead(task, schedule);
    case "later":
    case "unknown":
      return isPutOff(delivery) ? putOffReturn(task, delivery, schedule) : task;
  }
}

function markRead(task: InboundTask, { sentAt }: { readonly sentAt: number }): InboundTask {
  return sentAt < task.expiresAt ? markTaken(task) : task;
}

/** From now on the expired hold is a default. An earlier default or a released hold stays as it is. */
function markTaken(task: InboundTask): InboundTask {
  const isOwed = task.receiptStatus === "completed" && task.amount > 0 && isHoldPending(task);
  return isOwed ? { ...task, wasRead: true } : task;
}

/** The pauses grow with the attempts, and the peer expects the result as soon as it resumes. */
function putOffReturn(
  task: InboundTask,
  delivery: Delivery,
  schedule: Pick<RetrySchedule, "pauses"> & { readonly now: number },
): InboundTask {
  const attempts = Math.max(0, task.attempts - 1);
  const dueAt = getNextAttemptTime(task.dueAt ?? schedule.now, delivery, schedule);
  return { ...task, attempts, dueAt };
}

/**
 * Abandons a result that its peer refused, or that is deleted before its peer has given a final answer.
 * The hold of one that the peer has read stays until it expires.
 */
export function abandonReturn(task: InboundTask): InboundTask {
  if (task.state !== "returning") return task;
  // A result that is returned again after a restore was accepted before; its debt is settled by
  // that acceptance.
  if (task.hold === "defaulted" && task.wasRead !== true) return acknowledgeReturn(task);
  const hold = task.wasRead === true ? task.hold : getReleasedHold(task);
  return { ...task, state: "void", dueAt: null, hold };
}

/**
 * Records that the peer accepted the result, which its settlement proves even if its answer was
 * lost.
 */
export function acknowledgeReturn(task: InboundTask): InboundTask {
  if (task.state !== "returning" || task.receiptStatus === null) return task;
  return { ...task, state: task.receiptStatus, dueAt: null };
}

/**
 * Expires a running task, and the hold of one that was not settled in time. If the peer has
 * accepted or read the completed result before, the expired hold is a default.
 */
export function expireInbound(task: InboundTask, now: number): InboundTask {
  if (task.state === "running" && now >= task.expiresAt) return voidInbound(task);
  if (now < task.holdUntil) return task;
  const isTaken = task.state === "completed" || task.wasRead === true;
  const isDefault = isHoldPending(task) && isTaken && task.amount > 0;
  return { ...task, hold: isDefault ? "defaulted" : getReleasedHold(task) };
}

/** Extends the deadlines of the peer by `ms`, the time for which this relay was frozen. */
export function postponeInbound(task: InboundTask, ms: number): InboundTask {
  return { ...task, expiresAt: task.expiresAt + ms, holdUntil: task.holdUntil + ms };
}

/**
 * Restarts the return of a completed, unsettled result after a restore of the database, because the
 * backup may lack the settlement. The peer then answers with it.
 */
export function restartReturn(task: InboundTask, now: number): InboundTask {
  const isUnsettled = task.receiptStatus === "completed" && task.settlement === null;
  const isReturned = task.state === "completed" || task.state === "returning";
  return isUnsettled && isReturned
    ? { ...task, state: "returning", attempts: 0, dueAt: now }
    : task;
}

/**
 * Starts a new settlement deadline if an answer ended the return of a completed result only after
 * the hold had expired. Without it a peer would profit from delaying its answer.
 */
export function awaitLateSettlement(
  task: InboundTask,
  before: Pick<InboundTask, "state">,
  { now, holdMs }: { readonly now: number } & Pick<RetrySchedule, "holdMs">,
): InboundTask {
  const isAccepted = before.state === "returning" && task.state === "completed";
  return isAccepted && task.hold === "released" && task.amount > 0
    ? { ...task, hold: "due", holdUntil: now + holdMs }
    : task;
}

/**
 * Resumes the task after the relay was frozen for `pausedMs`: the peer could not settle meanwhile,
 * so its deadlines move by that time. After a restore the result is returned again, so that the
 * peer answers with a settlement that the backup may lack.
 */
export function resumeInbound(
  task: InboundTask,
  { now, pausedMs, restored }: { now: number; pausedMs: number; restored: boolean },
): InboundTask {
  const postponed = postponeInbound(task, pausedMs);
  return restored ? restartReturn(postponed, now) : postponed;
}

/**
 * Returns whether the task can no longer change. A settled task is never closed, because its sender
 * may ask years later whether it was booked. A defaulted one is not closed until the operator has
 * cleared it.
 */
export function isInboundClosed({
  state,
  hold,
  settlement,
}: Pick<InboundTask, "state" | "hold" | "settlement">): boolean {
  const isRunning = state === "running" || state === "returning";
  const isOpen = isRunning || isHoldPending({ hold }) || hold === "defaulted";
  return !isOpen && settlement === null;
}

/** Returns whether a settlement is still expected, so that `holdUntil` counts. */
export function isHoldPending({ hold }: Pick<InboundTask, "hold">): boolean {
  return hold === "open" || hold === "due";
}

/**
 * Returns the amount that the peer owes for a result that it accepted or read and did not settle in
 * time.
 */
export function getDefaultedAmount({ hold, amount }: Pick<InboundTask, "hold" | "amount">): Micro {
  return hold === "defaulted" ? amount : asMicro(0);
}

/** Clears a default by the operator's decision; a later settlement still counts. */
export function clearDefault(task: InboundTask): InboundTask {
  return task.hold === "defaulted" ? { ...task, hold: "released" } : task;
}

/** Ends a task without a receipt, by expiry or because it was cancelled. */
export function voidInbound(task: InboundTask): InboundTask {
  return task.state === "running" ? { ...task, state: "void", hold: getReleasedHold(task) } : task;
}

function getReleasedHold({ hold }: InboundTask): InboundTask["hold"] {
  return hold === "open" ? "released" : hold;
}
