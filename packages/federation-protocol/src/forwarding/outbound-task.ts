import { asMicro, type Micro } from "@agent/budget";
import { type Delivery, classifyDelivery } from "../delivery/delivery.ts";
import type { SettlementTerms } from "../settlement/settlement-terms.ts";
import { type FederationRefusal, refuse, type ResultCode } from "../refusals.ts";
import type { RetrySchedule } from "../delivery/retry-schedule.ts";

export type ReceiptStatus = "completed" | "failed" | "denied";

/**
 * Where a task stands that was sent to a peer:
 *
 * - `forwarding`: it is not known yet whether the peer has it;
 * - `forwarded`: the peer has it, or may have it;
 * - `refused`: the peer certainly does not have it, so it may go elsewhere;
 * - `relaying`: its result came, and the relay before this one has yet to take it;
 * - a receipt's status: the result is final;
 * - `void`: it expired here, or its result came too late for the relay before this one.
 */
export type OutboundState =
  | "forwarding"
  | "forwarded"
  | "refused"
  | "relaying"
  | ReceiptStatus
  | "void";

/** A task that this relay has sent to a peer, and what a result is held against. */
export interface OutboundTask {
  readonly taskId: string;
  readonly peerId: string;
  readonly agentId: string;
  /** The worker's key, pinned before the task went out. */
  readonly publicKey: string;
  readonly terms: SettlementTerms;
  readonly expiresAt: number;
  readonly state: OutboundState;
  readonly attempts: number;
  /** Whether an attempt was begun whose end is not known to be harmless. */
  readonly mayHaveArrived: boolean;
  /** When to send again; null: not at all. */
  readonly dueAt: number | null;
  readonly receiptHash: string | null;
  readonly receiptStatus: ReceiptStatus | null;
  /**
   * Of a relayed task with a completed result: whether the hold of the relay before this one is still
   * to be settled. A task that is `relaying` and does not say so waits for it too.
   */
  readonly awaitsSettlement?: boolean;
  /** Since when its submitter wants it cancelled, and when to ask the peer; null: not any more. */
  readonly cancel?: { readonly requestedAt: number; readonly dueAt: number | null };
}

type NewOutboundTask = Pick<
  OutboundTask,
  "taskId" | "peerId" | "agentId" | "publicKey" | "terms" | "expiresAt"
>;

/** A task that is to go out at once. */
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

/** The state to store before an attempt leaves: after a crash it counts as one that may arrive. */
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
 * What an attempt's end says; `before` is the task as it was when the attempt began. Only a task
 * that certainly never arrived is `refused`; one that may have waits for its result or its expiry,
 * because a second executor would be paid as well.
 */
export function endForward(
  task: OutboundTask,
  before: Pick<OutboundTask, "mayHaveArrived">,
  delivery: Delivery,
): OutboundTask {
  if (task.state !== "forwarding") return task;
  switch (classifyDelivery(delivery)) {
    case "accepted":
    case "pending":
    case "duplicate":
      return { ...task, state: "forwarded", dueAt: null };
    case "refused":
    case "later":
      return before.mayHaveArrived ? task : { ...task, state: "refused", dueAt: null };
    case "unknown":
      return task;
  }
}

/** Whether a task may be sent (again) now. */
export function isForwardDue({ state, dueAt, expiresAt }: OutboundTask, now: number): boolean {
  return state === "forwarding" && dueAt !== null && dueAt <= now && now < expiresAt;
}

/** Whether the task may still get a result, so that its end may move money. */
export function isOutboundOpen({ state }: Pick<OutboundTask, "state">): boolean {
  return state === "forwarding" || state === "forwarded" || state === "relaying";
}

/** A task whose time is over. One whose result came waits for the relay before this one instead. */
export function expireOutbound(task: OutboundTask, now: number): OutboundTask {
  return now >= task.expiresAt ? voidOutbound(task) : task;
}

/** A task that ends here without a result, by expiry or because its peer agreed to cancel it. */
export function voidOutbound(task: OutboundTask): OutboundTask {
  const isOpen = task.state === "forwarding" || task.state === "forwarded";
  return isOpen ? { ...task, state: "void", dueAt: null } : task;
}

/** The task when its own relay stood still for `ms`: its result is awaited that much longer. */
export function postponeOutbound(task: OutboundTask, ms: number): OutboundTask {
  const isOpen = task.state === "forwarding" || task.state === "forwarded";
  return isOpen ? { ...task, expiresAt: task.expiresAt + ms } : task;
}

/**
 * What a task may still add to what is owed to the peer; once its settlement was opened, that counts
 * there (`getSettlementPayable`). The two sums over all tasks of a peer are what is reserved for it.
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
 * Whether a peer may speak about a task's result at all: only the one that it was sent to, while it
 * waits for one. The identical result again is a repetition. Refused: `result.task_not_found`,
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
 * The task with its verified result. At the relay where it began that is final; a relay in the
 * middle (`relayed`) first has to hear what the relay before it says.
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

/** A relayed result, once the relay before this one has taken it or can take it no more. */
export function completeRelayed(task: OutboundTask, accepted: boolean): OutboundTask {
  if (task.state !== "relaying" || task.receiptStatus === null) return task;
  // The hold may have lapsed while the relay before this one kept its answer back.
  const awaitsSettlement = accepted && getPayable(task) > 0;
  return { ...task, state: accepted ? task.receiptStatus : "void", awaitsSettlement };
}

/** A relayed task that the relay before this one has settled, or whose hold there has lapsed. */
export function releasePayable(task: OutboundTask): OutboundTask {
  const mayAwait = task.state === "relaying" || task.awaitsSettlement === true;
  return mayAwait ? { ...task, awaitsSettlement: false } : task;
}
