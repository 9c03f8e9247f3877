import { asMicro, type Micro, type ReceiptStatus } from "@agent/budget";
import { type Delivery, classifyDelivery, isIdTaken } from "../delivery/delivery.ts";
import type { SettlementTerms } from "../settlement/settlement-terms.ts";
import { type FederationRefusal, refuse, type ResultCode } from "../refusals.ts";
import type { RetrySchedule } from "../delivery/retry-schedule.ts";

/**
 * The state of a task that was sent to a peer:
 *
 * - `forwarding`: it is not known yet whether the peer has it;
 * - `forwarded`: the peer has it, or may have it;
 * - `refused`: the peer certainly does not have it, so another executor may get it;
 * - `relaying`: its result arrived, and the previous relay has not accepted it yet;
 * - a receipt's status: the result is final;
 * - `void`: it expired here, or its result was too late for the previous relay.
 */
export type OutboundState =
  | "forwarding"
  | "forwarded"
  | "refused"
  | "relaying"
  | ReceiptStatus
  | "void";

/**
 * A task that this relay has sent to a peer, with the members that its result must match. Times are in ms
 * since the epoch, by this relay's clock.
 */
export interface OutboundTask {
  readonly taskId: string;
  readonly peerId: string;
  readonly agentId: string;
  /** The executor's key, pinned before the task was sent. */
  readonly publicKey: string;
  readonly terms: SettlementTerms;
  readonly expiresAt: number;
  readonly state: OutboundState;
  readonly attempts: number;
  /** Whether an attempt may have delivered the task. */
  readonly mayHaveArrived: boolean;
  /** When to send again; null if never. */
  readonly dueAt: number | null;
  readonly receiptHash: string | null;
  readonly receiptStatus: ReceiptStatus | null;
  /**
   * For a relayed task with a completed result: whether the previous relay must still settle its hold.
   * Without this member a `relaying` task waits for that settlement too.
   */
  readonly awaitsSettlement?: boolean;
  /**
   * When the submitter requested a cancellation, and when to ask the peer next; null if the peer is no
   * longer asked.
   */
  readonly cancel?: { readonly requestedAt: number; readonly dueAt: number | null };
}

type NewOutboundTask = Pick<
  OutboundTask,
  "taskId" | "peerId" | "agentId" | "publicKey" | "terms" | "expiresAt"
>;

/** Creates the state of a task that must be sent at once. */
export function createOutbound(newTask: NewOutboundTask, now: number): OutboundTask {
  return {
    ...newTask,
    state: "forwarding",
    attempts: 0,
    mayHaveArrived: false,
    dueAt: now,
    receiptHash: null,
    receiptStatus: null,
  };
}

/**
 * Returns the state to store before an attempt is sent, so that after a crash the attempt counts as
 * possibly delivered.
 */
export function beginForward(
  task: OutboundTask,
  { pauses }: RetrySchedule,
  now: number,
): OutboundTask {
  const pause = pauses[task.attempts];
  return {
    ...task,
    attempts: task.attempts + 1,
    mayHaveArrived: true,
    dueAt: pause === undefined ? null : now + pause,
  };
}

/**
 * Applies the result of an attempt; `before` is the task as it was when the attempt began. A task is
 * `refused` only if the peer certainly does not have it. One that may have arrived, by an earlier attempt or by
 * one that has begun since, waits for its result or its expiry, because a second executor would be paid as well.
 * `forward.id_taken` is certain even then: while the id belongs to another party, the peer cannot have accepted
 * any copy and will not accept one. An answer of a peer changes nothing once the task has gone to another peer.
 */
export function endForward(
  task: OutboundTask,
  before: Pick<OutboundTask, "peerId" | "attempts" | "mayHaveArrived">,
  delivery: Delivery,
): OutboundTask {
  if (task.state !== "forwarding" || task.peerId !== before.peerId) return task;
  switch (classifyDelivery(delivery)) {
    case "accepted":
    case "pending":
    case "duplicate":
      return { ...task, state: "forwarded", dueAt: null };
    case "refused":
    case "later":
      return isOnlyAttempt(task, before) || isIdTaken(delivery)
        ? { ...task, state: "refused", dueAt: null }
        : task;
    case "unknown":
      return task;
  }
}

/** Returns whether no attempt before or after the one that began with `before` may have delivered the task. */
function isOnlyAttempt(
  { attempts }: Pick<OutboundTask, "attempts">,
  before: Pick<OutboundTask, "attempts" | "mayHaveArrived">,
): boolean {
  return !before.mayHaveArrived && attempts === before.attempts + 1;
}

/**
 * Returns whether a task may be sent (again) now. A task that its submitter wants to cancel is not sent,
 * because the peer may have stated that it does not have it; it ends by the peer's answer or by its expiry.
 */
export function isForwardDue(task: OutboundTask, now: number): boolean {
  const { state, dueAt, expiresAt, cancel } = task;
  if (state !== "forwarding" || cancel !== undefined) return false;
  return dueAt !== null && dueAt <= now && now < expiresAt;
}

/** Returns whether the task may still get a result, so that its end may move money. */
export function isOutboundOpen({ state }: Pick<OutboundTask, "state">): boolean {
  return state === "forwarding" || state === "forwarded" || state === "relaying";
}

/** Expires a task. One whose result arrived waits for the previous relay instead. */
export function expireOutbound(task: OutboundTask, now: number): OutboundTask {
  return now >= task.expiresAt ? voidOutbound(task) : task;
}

/** Ends a task without a result, by expiry or because its peer agreed to cancel it. */
export function voidOutbound(task: OutboundTask): OutboundTask {
  const isOpen = task.state === "forwarding" || task.state === "forwarded";
  return isOpen ? { ...task, state: "void", dueAt: null } : task;
}

/** Extends the expiry by `ms`, the duration of this relay's freeze. */
export function postponeOutbound(task: OutboundTask, ms: number): OutboundTask {
  const isOpen = task.state === "forwarding" || task.state === "forwarded";
  return isOpen ? { ...task, expiresAt: task.expiresAt + ms } : task;
}

/**
 * Returns the amount that a task may still add to the debt to the peer. After its settlement is created,
 * `getSettlementPayable` counts it instead; the sum of both over all tasks of a peer is the amount reserved
 * for it.
 */
export function getPayable({
  state,
  receiptStatus,
  awaitsSettlement = state === "relaying" && receiptStatus === "completed",
  terms,
}: Pick<OutboundTask, "state" | "receiptStatus" | "awaitsSettlement" | "terms">): Micro {
  const mayBecomePayable = state === "forwarding" || state === "forwarded" || awaitsSettlement;
  return mayBecomePayable ? terms.net : asMicro(0);
}

/**
 * Checks whether a peer may return a task's result: only the peer to which it was sent, while it waits for
 * one. Receiving the identical result again is a repetition. Refused: `result.task_not_found`,
 * `result.wrong_peer`, `result.already_finished`.
 */
export function checkResultState(
  task: OutboundTask | null,
  { from, receiptHash, now }: { readonly from: string; readonly receiptHash: string; now: number },
):
  | { readonly ok: true; readonly repeated: boolean; task: OutboundTask }
  | FederationRefusal<ResultCode> {
  if (task === null) return refuse("result.task_not_found");
  if (task.peerId !== from) return refuse("result.wrong_peer");
  if (task.state === "void" || task.state === "refused") return refuse("result.task_not_found");
  if (task.receiptHash !== null) {
    return task.receiptHash === receiptHash
      ? { ok: true, repeated: true, task }
      : refuse("result.already_finished");
  }
  return now < task.expiresAt
    ? { ok: true, repeated: false, task }
    : refuse("result.task_not_found");
}

/**
 * Applies a verified result. At the task's origin it is final; an intermediate relay (`relayed`)
 * first needs the answer of the previous relay.
 */
export function applyResult(
  task: OutboundTask,
  result: { readonly status: ReceiptStatus; readonly receiptHash: string },
  { relayed }: { readonly relayed: boolean },
): OutboundTask {
  return {
    ...task,
    state: relayed ? "relaying" : result.status,
    dueAt: null,
    receiptHash: result.receiptHash,
    receiptStatus: result.status,
  };
}

/**
 * Completes a relayed result once the previous relay has accepted it or can no longer accept it.
 */
export function completeRelayed(task: OutboundTask, accepted: boolean): OutboundTask {
  if (task.state !== "relaying" || task.receiptStatus === null) return task;
  // The hold may have expired while the previous relay delayed its answer.
  const awaitsSettlement = accepted && getPayable(task) > 0;
  return { ...task, state: accepted ? task.receiptStatus : "void", awaitsSettlement };
}

/**
 * Releases the amount of a relayed task, because the previous relay has settled it or its hold there has
 * expired.
 */
export function releasePayable(task: OutboundTask): OutboundTask {
  const mayAwait = task.state === "relaying" || task.awaitsSettlement === true;
  return mayAwait ? { ...task, awaitsSettlement: false } : task;
}
