import { classifyDelivery, type Delivery } from "../delivery/delivery.ts";
import type { RetrySchedule } from "../delivery/retry-schedule.ts";
import { type CancelCode, type FederationRefusal, refuse } from "../refusals.ts";
import type { InboundTask } from "./inbound-task.ts";
import type { OutboundTask } from "./outbound-task.ts";

/** The longest pause between two notices, so that the money is not held for hours after a peer was down. */
const MAX_PAUSE_MS = 300_000;

/** Times in ms since the epoch; `until` is the end of the task according to its sender's forward. */
interface NoticeTimes {
  readonly now: number;
  readonly until: number;
}

/**
 * Schedules the notice to its sender for a task that ended without a receipt, because the sender holds the
 * money until it learns of that end. At `until` the sender ends the task by itself.
 */
export function requestNotice(task: InboundTask, { now, until }: NoticeTimes): InboundTask {
  return isEndedWithoutReceipt(task) && now < until ? { ...task, attempts: 0, dueAt: now } : task;
}

/** Returns whether the notice must be sent (again) now. */
export function isNoticeDue(task: InboundTask, now: number): boolean {
  return isEndedWithoutReceipt(task) && task.dueAt !== null && task.dueAt <= now;
}

/** Returns the state to store before the notice is sent; from `until` on it is never due again. */
export function beginNotice(
  task: InboundTask,
  { pauses }: Pick<RetrySchedule, "pauses">,
  { now, until }: NoticeTimes,
): InboundTask {
  if (now >= until) return stopNotice(task);
  const pause = Math.min(pauses[task.attempts] ?? MAX_PAUSE_MS, MAX_PAUSE_MS);
  return { ...task, attempts: task.attempts + 1, dueAt: now + pause };
}

/** Applies the sender's answer: it has ended the task or no longer waits for it. */
export function endNotice(task: InboundTask, delivery: Delivery): InboundTask {
  const outcome = classifyDelivery(delivery);
  const isFinal = outcome === "accepted" || outcome === "refused" || outcome === "duplicate";
  return isFinal ? stopNotice(task) : task;
}

/** Stops the notices, for example to a peer that does not support them. */
export function stopNotice(task: InboundTask): InboundTask {
  return isEndedWithoutReceipt(task) ? { ...task, dueAt: null } : task;
}

function isEndedWithoutReceipt({ state, receiptHash }: InboundTask): boolean {
  return state === "void" && receiptHash === null;
}

/**
 * Checks whether a peer may state that a task has ended without a receipt: only the peer that has the task
 * may, and only before its result has arrived. Refused: `cancel.task_not_found`, `cancel.wrong_peer`,
 * `cancel.already_finished`.
 */
export function checkCancelNotice(
  task: OutboundTask | null,
  { from }: { readonly from: string },
): { readonly ok: true; readonly state: "running" | "cancelled" } | FederationRefusal<CancelCode> {
  if (task === null || task.state === "refused") return refuse("cancel.task_not_found");
  if (task.peerId !== from) return refuse("cancel.wrong_peer");
  if (task.state === "forwarding" || task.state === "forwarded")
    return { ok: true, state: "running" };
  return task.state === "void" && task.receiptHash === null
    ? { ok: true, state: "cancelled" }
    : refuse("cancel.already_finished");
}
