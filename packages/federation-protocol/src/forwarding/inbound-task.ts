import { asMicro, type Micro, type ReceiptStatus } from "@agent/budget";
import type { SettlementTerms } from "../settlement/settlement-terms.ts";
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

/** A booked settlement, stored so that repetitions get the same answer. */
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
  /** The end that the forward requested, or an earlier one due to this relay's limits. */
  readonly expiresAt: number;
  readonly state: InboundState;
  readonly receiptHash: string | null;
  readonly receiptStatus: ReceiptStatus | null;
  readonly attempts: number;
  /** When to return the result again; null if never. */
  readonly dueAt: number | null;
  /**
   * The end that the forward requested, set once a freeze of this relay has moved `expiresAt`, because the
   * peer's own end has not moved.
   */
  readonly awaitedUntil?: number;
  /**
   * True once the peer has answered a completed, paid result without accepting it, by a final refusal or by
   * 202, while it was certainly waiting for the result. Absent in rows of earlier versions.
   */
  readonly wasRead?: boolean;
  /** True if the receipt arrived only after the end that the forward requested, because of a freeze. */
  readonly isLate?: boolean;
  /**
   * - `open`: the amount is held from the peer's account;
   * - `due`: the peer accepted the result after the hold had expired and must settle it anew;
   * - `defaulted`: the peer accepted or read the result and did not settle in time, so the amount
   *   counts as owed until the peer settles an accepted result or the operator clears it.
   */
  readonly hold: "open" | "due" | "released" | "settled" | "defaulted";
  /**
   * When an `open` or `due` hold without a settlement expires; a settlement in this very millisecond is
   * still in time.
   */
  readonly holdUntil: number;
  readonly settlement: BookedTerms | null;
}

type NewInboundTask = Pick<InboundTask, "taskId" | "peerId" | "agentId" | "amount" | "expiresAt">;

/** Creates the state of a newly accepted task, whose amount is held. */
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
 * Records the executor's receipt, which arrived here or came from the next relay; it must be returned at
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
    ...(now >= getAwaitedUntil(task) && { isLate: true }),
    // Only completed work is paid.
    hold: receipt.status === "completed" ? task.hold : "released",
  };
}

/**
 * Expires a running task, or the hold of a task that was not settled in time. If the peer has accepted or
 * read the completed result, the expired hold is a default.
 */
export function expireInbound(task: InboundTask, now: number): InboundTask {
  if (task.state === "running" && now >= task.expiresAt) return voidInbound(task);
  if (now < task.holdUntil) return task;
  const isTaken = task.state === "completed" || task.wasRead === true;
  const isDefault = isHoldPending(task) && isTaken && task.amount > 0;
  return { ...task, hold: isDefault ? "defaulted" : getReleasedHold(task) };
}

/** Returns the time until which the peer waits for the result by its own clock, in ms since the epoch. */
export function getAwaitedUntil({
  awaitedUntil,
  expiresAt,
}: Pick<InboundTask, "awaitedUntil" | "expiresAt">): number {
  return awaitedUntil ?? expiresAt;
}

/** Extends the peer's deadlines by `ms`, the duration of this relay's freeze. */
export function postponeInbound(task: InboundTask, ms: number): InboundTask {
  return {
    ...task,
    awaitedUntil: getAwaitedUntil(task),
    expiresAt: task.expiresAt + ms,
    holdUntil: task.holdUntil + ms,
  };
}

/**
 * Returns whether the task can no longer change. A settled task is never closed, because its sender may ask
 * years later whether the settlement was booked. A defaulted one stays open until the operator clears it.
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

/**
 * Returns the amount of completed work whose hold has expired undecided: the peer gave no final answer to
 * the result, or accepted it too late and has not settled yet. It uses up the peer's credit; otherwise a
 * peer that never answers would get more unpaid work whenever a hold expires. A hold that the operator
 * released after the peer had read the result counts as decided.
 */
export function getUndecidedAmount({
  state,
  hold,
  receiptStatus,
  wasRead,
  amount,
}: Pick<InboundTask, "state" | "hold" | "receiptStatus" | "wasRead" | "amount">): Micro {
  const isUnanswered = state === "returning" && hold === "released" && wasRead !== true;
  const isUndecided = receiptStatus === "completed" && (isUnanswered || hold === "due");
  return isUndecided ? amount : asMicro(0);
}

/**
 * Returns the amount of work that was completed in time and that the peer refused without being in default.
 * It may have got the result too late, or it may have read the result and lied; the relay cannot tell.
 */
export function getRefusedAmount({
  state,
  hold,
  receiptStatus,
  wasRead,
  isLate,
  amount,
}: Pick<InboundTask, "state" | "hold" | "receiptStatus" | "wasRead" | "isLate" | "amount">): Micro {
  const isUnpaid = state === "void" && receiptStatus === "completed" && hold === "released";
  return isUnpaid && wasRead !== true && isLate !== true ? amount : asMicro(0);
}

/**
 * Clears a default or a refused amount by decision of the operator; a later settlement of a default is still
 * booked.
 */
export function clearDefault(task: InboundTask): InboundTask {
  if (task.hold === "defaulted") return { ...task, hold: "released" };
  // The operator has decided that the peer need not pay, as for a result that it has read.
  return getRefusedAmount(task) > 0 ? { ...task, wasRead: true } : task;
}

/** Ends a task without a receipt, by expiry or because it was cancelled. */
export function voidInbound(task: InboundTask): InboundTask {
  return task.state === "running" ? { ...task, state: "void", hold: getReleasedHold(task) } : task;
}

/** Returns the hold of a task for which nothing will be paid. */
export function getReleasedHold({ hold }: InboundTask): InboundTask["hold"] {
  return hold === "open" ? "released" : hold;
}
