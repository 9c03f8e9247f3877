import { asMicro, type Micro } from "@agent/budget";
import { type Delivery, isPeerFrozen, classifyDelivery } from "../delivery/delivery.ts";
import type { SettlementTerms } from "../settlement/settlement-terms.ts";
import type { ReceiptStatus } from "./outbound-task.ts";
import type { RetrySchedule } from "../delivery/retry-schedule.ts";

/**
 * Where a task stands that a peer sent:
 *
 * - `running`: no receipt yet, here or further on;
 * - `returning`: the receipt is on its way back;
 * - a receipt's status: the peer has taken it;
 * - `void`: it expired here, or the peer takes its result no more.
 */
export type InboundState = "running" | "returning" | ReceiptStatus | "void";

/** A settlement as it was booked, so that a repetition gets the same answer. */
export interface BookedTerms extends SettlementTerms {
  readonly settlementId: string;
  readonly bookedAt: number;
}

/** A task that a peer sent to this relay, and what the peer will owe for it. */
export interface InboundTask {
  readonly taskId: string;
  readonly peerId: string;
  readonly agentId: string;
  /** What the peer pays for it once it is completed. */
  readonly amount: Micro;
  readonly expiresAt: number;
  readonly state: InboundState;
  readonly receiptHash: string | null;
  readonly receiptStatus: ReceiptStatus | null;
  readonly attempts: number;
  /** When to return the result again; null: not at all. */
  readonly dueAt: number | null;
  /**
   * - `open`: the amount is held from the peer's account;
   * - `due`: the peer accepted the result after the hold had lapsed, and has to settle it anew;
   * - `defaulted`: the peer accepted the result and did not settle in time, so the amount counts as
   *   owed until it settles or the operator clears it.
   */
  readonly hold: "open" | "due" | "released" | "settled" | "defaulted";
  /** A hold, `open` or `due`, whose settlement has not come by then lapses; it still counts. */
  readonly holdUntil: number;
  readonly settlement: BookedTerms | null;
}

type NewInboundTask = Pick<InboundTask, "taskId" | "peerId" | "agentId" | "amount" | "expiresAt">;

/** A task that was just taken over, with its amount held. */
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

/** The worker's receipt came, directly or from the next relay; what it proves goes back at once. */
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
    // Nothing is paid for what was not done.
    hold: receipt.status === "completed" ? task.hold : "released",
  };
}

/** Whether the result has to be sent (again) now. */
export function isReturnDue({ state, dueAt }: InboundTask, now: number): boolean {
  return state === "returning" && dueAt !== null && dueAt <= now;
}

/**
 * The state to store before a result leaves. It is tried for as long as the task is kept, in the end
 * at the longest pause: only its answer tells whether the sender still waits for it.
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
 * What the peer's answer to a result says; any answer that is not final leaves it to be retried. One of
 * a frozen peer uses up no attempt.
 */
export function endReturn(task: InboundTask, delivery: Delivery): InboundTask {
  if (task.state !== "returning") return task;
  switch (classifyDelivery(delivery)) {
    case "accepted":
      return acknowledgeReturn(task);
    case "refused":
    case "duplicate":
      return abandonReturn(task);
    case "pending":
    case "later":
    case "unknown":
      // The pauses grow with the attempts, and the peer awaits the result when it goes on.
      return isPeerFrozen(delivery) ? { ...task, attempts: Math.max(0, task.attempts - 1) } : task;
  }
}

/** A result that is not kept any longer: its peer has never said what became of it. */
export function abandonReturn(task: InboundTask): InboundTask {
  if (task.state !== "returning") return task;
  // One that a restored relay brings again was accepted before, and its debt is settled by that.
  if (task.hold === "defaulted") return acknowledgeReturn(task);
  return { ...task, state: "void", dueAt: null, hold: getReleasedHold(task) };
}

/** A peer that settles a task has taken its result, whether or not its answer came. */
export function acknowledgeReturn(task: InboundTask): InboundTask {
  if (task.state !== "returning" || task.receiptStatus === null) return task;
  return { ...task, state: task.receiptStatus, dueAt: null };
}

/**
 * What time does to a task: one that still runs expires, a hold that is not settled lapses. If the
 * peer has accepted the completed result before, that is a default.
 */
export function expireInbound(task: InboundTask, now: number): InboundTask {
  if (task.state === "running" && now >= task.expiresAt) return voidInbound(task);
  if (now < task.holdUntil) return task;
  const isDefault = isHoldPending(task) && task.state === "completed" && task.amount > 0;
  return { ...task, hold: isDefault ? "defaulted" : getReleasedHold(task) };
}

/** The task when the relay stood still for `ms`: what is awaited of the peer has that much longer. */
export function postponeInbound(task: InboundTask, ms: number): InboundTask {
  return { ...task, expiresAt: task.expiresAt + ms, holdUntil: task.holdUntil + ms };
}

/**
 * The task after a restore of the relay's database: a completed result that is not settled goes back
 * again, because the settlement may be among what the backup lacks. The peer then answers with it.
 */
export function restartReturn(task: InboundTask, now: number): InboundTask {
  const isUnsettled = task.receiptStatus === "completed" && task.settlement === null;
  const isReturned = task.state === "completed" || task.state === "returning";
  return isUnsettled && isReturned
    ? { ...task, state: "returning", attempts: 0, dueAt: now }
    : task;
}

/**
 * What follows when an answer has ended a return: a peer that accepts a completed result only after
 * the hold has lapsed has as long to settle as any other, or holding back the answer would pay.
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
 * The task after the relay stood still for `pausedMs`: its peer could not settle meanwhile, so it has
 * as much longer. After a restore it is asked for the settlement that the backup may lack, by bringing
 * it the result again.
 */
export function resumeInbound(
  task: InboundTask,
  { now, pausedMs, restored }: { now: number; pausedMs: number; restored: boolean },
): InboundTask {
  const postponed = postponeInbound(task, pausedMs);
  return restored ? restartReturn(postponed, now) : postponed;
}

/**
 * Whether nothing more can come of the task. A settled one never is over: its sender may ask for years
 * whether it was booked. Neither is one that the peer has defaulted on, until the operator has cleared
 * it.
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

/** Whether a settlement is still awaited, so that `holdUntil` counts. */
export function isHoldPending({ hold }: Pick<InboundTask, "hold">): boolean {
  return hold === "open" || hold === "due";
}

/** What the peer owes for a result that it accepted and did not settle in time. */
export function getDefaultedAmount({ hold, amount }: Pick<InboundTask, "hold" | "amount">): Micro {
  return hold === "defaulted" ? amount : asMicro(0);
}

/** The operator no longer counts a default as owed; a settlement that comes later still counts. */
export function clearDefault(task: InboundTask): InboundTask {
  return task.hold === "defaulted" ? { ...task, hold: "released" } : task;
}

/** A task that ends here without a receipt, by expiry or because it was cancelled. */
export function voidInbound(task: InboundTask): InboundTask {
  return task.state === "running" ? { ...task, state: "void", hold: getReleasedHold(task) } : task;
}

function getReleasedHold({ hold }: InboundTask): InboundTask["hold"] {
  return hold === "open" ? "released" : hold;
}
