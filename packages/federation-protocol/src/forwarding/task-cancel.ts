import { hexToBytes, signJson, SUITE, verifyJson } from "@agent/crypto";
import type { InboundTask } from "./inbound-task.ts";
import { type TaskCancelAnswer, TaskCancelAnswerSchema } from "../messages/task.ts";
import type { OutboundTask } from "./outbound-task.ts";
import { parseMessage } from "../parse-message.ts";
import { type CancelCode, type FederationRefusal, refuse } from "../refusals.ts";

/** The shortest and the longest pause between two requests for one cancellation. */
const CANCEL_PAUSE_MS = { min: 15_000, max: 300_000 };

/** The state of a task whose cancellation a peer requests: running, or ended without a receipt. */
export type CheckCancelResult = { readonly ok: true; readonly state: "running" | "cancelled" };

/**
 * Checks whether a peer may cancel a task: only the one that sent it, while it has no receipt.
 * Refused: `federation.wrong_sender`, `cancel.task_not_found`, `cancel.wrong_peer`,
 * `cancel.already_finished`.
 */
export function checkCancel(
  task: InboundTask | null,
  { from, origin }: { readonly from: string; readonly origin: string },
): CheckCancelResult | FederationRefusal<CancelCode> {
  if (origin !== from) return refuse("federation.wrong_sender");
  if (task === null) return refuse("cancel.task_not_found");
  if (task.peerId !== from) return refuse("cancel.wrong_peer");
  if (task.state === "running") return { ok: true, state: "running" };
  // A task whose result was abandoned is void too, but its sender has seen the result.
  const isCancelled = task.state === "void" && task.receiptHash === null;
  return isCancelled ? { ok: true, state: "cancelled" } : refuse("cancel.already_finished");
}

/** Signs the answer to a cancellation; `secretKey` is the answering relay's 32-byte seed. */
export function signCancelAnswer(
  {
    status,
    taskId,
    relayId,
  }: Pick<TaskCancelAnswer, "status"> & { taskId: string; relayId: string },
  { secretKey, now }: { readonly secretKey: Uint8Array; readonly now: number },
): TaskCancelAnswer {
  return signJson(
    { status, task_id: taskId, relay_id: relayId, timestamp: now, suite: SUITE },
    secretKey,
  );
}

/** Requests the cancellation of a task; its peer is asked at once. A task that no peer has is unchanged. */
export function requestCancel(task: OutboundTask, now: number): OutboundTask {
  const isOpen = task.state === "forwarding" || task.state === "forwarded";
  return isOpen && task.cancel === undefined
    ? { ...task, cancel: { requestedAt: now, dueAt: now } }
    : task;
}

/** Returns whether the peer must be asked (again) now. */
export function isCancelDue({ state, cancel, expiresAt }: OutboundTask, now: number): boolean {
  const isOpen = state === "forwarding" || state === "forwarded";
  const dueAt = cancel?.dueAt ?? null;
  return isOpen && dueAt !== null && dueAt <= now && now < expiresAt;
}

/**
 * Returns the state to store before the peer is asked. Each pause is as long as all previous ones together.
 */
export function beginCancel(task: OutboundTask, now: number): OutboundTask {
  const requestedAt = task.cancel?.requestedAt ?? now;
  const pause = Math.min(Math.max(now - requestedAt, CANCEL_PAUSE_MS.min), CANCEL_PAUSE_MS.max);
  return { ...task, cancel: { requestedAt, dueAt: now + pause } };
}

/** The outcome of an answer to a cancellation; only a signed `cancelled` ends the task. */
export type CancelOutcome = "cancelled" | "pending" | "never";

/**
 * Parses the answer to a cancellation. `never`: the peer already has the receipt or does not support
 * cancellation, so it is not asked again, and the task ends by its result or its expiry. If it is unknown
 * whether the task arrived, `cancel.wrong_peer` cancels it: like `forward.id_taken` it states that the id
 * belongs to another party, so the peer has not accepted any copy.
 */
export function parseCancelAnswer(
  answer: { readonly status: number; readonly code?: string | undefined; readonly body: unknown },
  { task, publicKey }: { readonly task: OutboundTask; readonly publicKey: string },
): CancelOutcome {
  if (answer.status >= 200 && answer.status < 300) {
    const read = parseMessage(TaskCancelAnswerSchema, answer.body);
    if (!read.ok) return "pending";
    const { status, task_id, relay_id, suite } = read.message;
    const matchesTask = task_id === task.taskId && relay_id === task.peerId && suite === SUITE;
    const isSigned = matchesTask && verifyJson(answer.body, hexToBytes(publicKey));
    return isSigned && status === "cancelled" ? "cancelled" : "pending";
  }
  if (answer.code === "cancel.wrong_peer" && task.state === "forwarding") return "cancelled";
  return answer.code === "cancel.already_finished" || answer.code === "route.not_found"
    ? "never"
    : "pending";
}

/** Applies an answer to a cancellation; a peer that never agrees is not asked again. */
export function endCancel(task: OutboundTask, outcome: CancelOutcome): OutboundTask {
  if (outcome === "pending" || task.cancel === undefined) return task;
  return { ...task, cancel: { ...task.cancel, dueAt: null } };
}
