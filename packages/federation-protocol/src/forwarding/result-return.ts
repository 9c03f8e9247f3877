import {
  type Delivery,
  isDeferred,
  classifyDelivery,
  getNextAttemptTime,
} from "../delivery/delivery.ts";
import type { RetrySchedule } from "../delivery/retry-schedule.ts";
import {
  getAwaitedUntil,
  getReleasedHold,
  type InboundTask,
  isHoldPending,
  postponeInbound,
} from "./inbound-task.ts";

/** Returns whether the result must be sent (again) now. */
export function isReturnDue({ state, dueAt }: InboundTask, now: number): boolean {
  return state === "returning" && dueAt !== null && dueAt <= now;
}

/**
 * Returns the state to store before a result is sent. The result is retried as long as the task is stored,
 * eventually at the longest pause, because only the sender's answer shows whether it is still waiting.
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
 * Applies the peer's answer to a result; any answer that is not final leads to a retry. An answer of 429 or
 * 503 does not count as an attempt, and the next one waits for its `Retry-After`. `sentAt` is when the
 * result was sent, in ms: the peer waits until the end that it requested, so its refusal of a result sent
 * before that end is not believed. `isSettlementExpired` means that the answer contained a settlement whose
 * time was not accepted. Only a further answer can contain it again, so the result is resent unless its
 * hold has expired; otherwise a peer could evade the settlement deadline with such answers.
 */
export function endReturn(
  task: InboundTask,
  delivery: Delivery,
  schedule: ReturnSchedule & { readonly now: number; readonly isSettlementExpired?: boolean },
): InboundTask {
  if (task.state !== "returning") return task;
  switch (classifyDelivery(delivery)) {
    case "accepted":
      // After the hold has expired, only an acceptance starts a new settlement deadline.
      return schedule.isSettlementExpired === true && task.hold !== "released"
        ? markTaken(task)
        : acknowledgeReturn(task);
    case "refused":
    case "duplicate":
      return endRefusedReturn(task, schedule);
    case "pending":
      return markRead(task, schedule);
    case "later":
    case "unknown":
      return isDeferred(delivery) ? deferReturn(task, delivery, schedule) : task;
  }
}

/** `lifetimeMs` is also the maximum difference between the clocks of two peers. */
type ReturnSchedule = Pick<RetrySchedule, "pauses" | "lifetimeMs"> & { readonly sentAt: number };

/**
 * Ends the return of a result that the peer refused. If it was sent within `lifetimeMs` before the end, it
 * may have arrived after the end by the peer's clock. The refusal may also be false, so the hold stays
 * until it expires, but then it is not a default.
 */
function endRefusedReturn(task: InboundTask, schedule: ReturnSchedule): InboundTask {
  const ended = abandonReturn(markRead(task, schedule));
  const mayBeFalse = isOwed(task) && schedule.sentAt < getAwaitedUntil(task);
  return mayBeFalse ? { ...ended, hold: task.hold } : ended;
}

/** The peer was certainly waiting for a result that was sent before the end by every admissible clock. */
function markRead(task: InboundTask, { sentAt, lifetimeMs }: ReturnSchedule): InboundTask {
  return sentAt < getAwaitedUntil(task) - lifetimeMs ? markTaken(task) : task;
}

/** From now on an expired hold is a default. An earlier default or a released hold does not change. */
function markTaken(task: InboundTask): InboundTask {
  return isOwed(task) ? { ...task, wasRead: true } : task;
}

function isOwed(task: InboundTask): boolean {
  return task.receiptStatus === "completed" && task.amount > 0 && isHoldPending(task);
}

/** The pauses grow with the attempts, and the peer expects the result as soon as it resumes. */
function deferReturn(
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
  // A result that is returned again after a restore was accepted before, and that acceptance settles its
  // debt.
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
 * Starts a new settlement deadline if an answer ended the return of a completed result only after the hold
 * had expired. Otherwise a peer would profit from delaying its answer.
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
 * Resumes the task after the relay was frozen for `pausedMs`: the peer could not settle during that time,
 * so its deadlines are extended by it. After a restore the result is returned again, so that the peer
 * answers with the settlement, which the backup may lack.
 */
export function resumeInbound(
  task: InboundTask,
  { now, pausedMs, restored }: { now: number; pausedMs: number; restored: boolean },
): InboundTask {
  const postponed = postponeInbound(task, pausedMs);
  return restored ? restartReturn(postponed, now) : postponed;
}
