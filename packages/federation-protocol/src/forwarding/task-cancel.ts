import { hexToBytes, signJson, SUITE, verifyJson } from "@agent/crypto";
import type { InboundTask } from "./inbound-task.ts";
import { type TaskCancelAnswer, TaskCancelAnswerSchema } from "../messages/task.ts";
import type { OutboundTask } from "./outbound-task.ts";
import { parseMessage } from "../parse-message.ts";
import { type CancelCode, type FederationRefusal, refuse } from "../refusals.ts";

/** The shortest and the longest pause between two questions about one cancel, in ms. */
const cancelPauseMs = { min: 15_000, max: 300_000 };

/** What a cancel that a peer asks for finds: a task that runs, or one that nothing comes of any more. */
export type CheckCancelResult = { readonly ok: true; readonly state: "running" | "cancelled" };

/**
 * Whether a peer may ask for the cancel of a task: only the one that it was taken from, while it has no
 * receipt. Refused: `federation.wrong_sender`, `cancel.task_not_found`, `cancel.wrong_peer`,
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
  // A result that came to nothing is void too, but its sender has heard of it.
  const isCancelled = task.state === "void" && task.receiptHash === null;
  return isCancelled ? { ok: true, state: "cancelled" } : refuse("cancel.already_finished");
}

/** The answer to a cancel, signed by the relay that gives it; `secretKey` is its 32-byte seed. */
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

/** The task for whose cancel its peer is asked at once; one that is no peer's (any more) stays as it is. */
export function requestCancel(task: OutboundTask, now: number): OutboundTask {
  const isOpen = task.state === "forwarding" || task.state === "forwarded";
  return isOpen && task.cancel === undefined
    ? { ...task, cancel: { requestedAt: now, dueAt: now } }
    : task;
}

/** Whether the peer has to be asked (again) now. */
export function isCancelDue({ state, cancel, expiresAt }: OutboundTask, now: number): boolean {
  const isOpen = state === "forwarding" || state === "forwarded";
  const dueAt = cancel?.dueAt ?? null;
  return isOpen && dueAt !== null && dueAt <= now && now < expiresAt;
}

/** The state to store before the peer is asked: each pause is as long as all before it. */
export function beginCancel(task: OutboundTask, now: number): OutboundTask {
  const requestedAt = task.cancel?.requestedAt ?? now;
  const pause = Math.min(Math.max(now - requestedAt, cancelPauseMs.min), cancelPauseMs.max);
  return { ...task, cancel: { requestedAt, dueAt: now + pause } };
}

/** What a peer's answer to a cancel says; only its signed word that the task is cancelled ends it. */
export type CancelOutcome = "cancelled" | "pending" | "never";

/**
 * Reads the answer to a cancel. `never`: the peer has the receipt already or knows no cancel, so it is
 * not asked again and the task ends by its result or its expiry.
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
  return answer.code === "cancel.already_finished" || answer.code === "route.not_found"
    ? "never"
    : "pending";
}

/** The task after an answer: a peer that never agrees is not asked again. */
export function endCancel(task: OutboundTask, outcome: CancelOutcome): OutboundTask {
  if (outcome === "pending" || task.cancel === undefined) return task;
  return { ...task, cancel: { ...task.cancel, dueAt: null } };
}
