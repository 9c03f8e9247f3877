import { awaitResult, type CheckedResult, sendVerdict, type UnprovenResult } from "@agent/client";
import { type ExecutionReceipt, hashReceipt } from "@agent/receipts";
import {
  toDelegatorRefusal,
  type DelegatorAnswer,
  type DelegatorContext,
} from "./delegator-answer.ts";
import { findSubmittedTask } from "./find-submitted-task.ts";

/** The owner's verdict on a result that is held for inspection. */
export interface InspectionOrder {
  readonly task_id: string;
  readonly verdict: "accepted" | "rejected";
  /** Required for a rejection. */
  readonly reason?: string | undefined;
  /** The part of the sum that the owner offers with a rejection, 0 to below 1. */
  readonly offer?: number | undefined;
}

/**
 * Accepts a result whose receipt was verified, or rejects one, before it is paid. A result whose receipt does not
 * prove the work may be rejected, because silence would pay for it. Refused with `task.not_found`, `request.invalid`,
 * and like the relay's operation `giveVerdict`.
 */
export async function inspectResult(
  context: DelegatorContext,
  { task_id: taskId, verdict, reason, offer }: InspectionOrder,
  signal: AbortSignal,
): Promise<DelegatorAnswer> {
  if ((verdict === "rejected") !== (reason !== undefined)) {
    const message = "A rejection must have a reason, and an acceptance none";
    return { ok: false, code: "request.invalid", message, taskId };
  }
  const found = await findSubmittedTask(context, taskId, signal);
  if (!found.ok) return found;
  const { client, runtime, timeoutMs, ownId: agentId, secretKey } = context;
  const { agent_id: targetId, prompt } = found.task;
  const wanted = { agentId: targetId, taskId, prompt, timeoutMs, signal };
  const proven = await awaitResult(client, { ...runtime, ...wanted });
  const chosen = chooseReceipt(proven, verdict);
  if (!chosen.ok) return toDelegatorRefusal(chosen, taskId);
  const sent = await sendVerdict(client, {
    ...runtime,
    agentId: targetId,
    taskId,
    receiptHash: hashReceipt(chosen.receipt),
    signer: { agentId, secretKey },
    statement: {
      verdict,
      ...(reason !== undefined && { reason }),
      ...(offer !== undefined && { offer }),
    },
    signal,
  });
  if (!sent.ok) return toDelegatorRefusal(sent, taskId);
  const { state, deadline, outcome, due, fee } = sent.body;
  const share = outcome?.share ?? null;
  return { ok: true, answer: { task_id: taskId, state, deadline, share, due, fee } };
}

/** Returns the receipt that a verdict may name; only a proven one is accepted. */
function chooseReceipt(
  checked: CheckedResult,
  verdict: InspectionOrder["verdict"],
): { readonly ok: true; readonly receipt: ExecutionReceipt } | UnprovenResult {
  if (checked.ok) return checked;
  const { unprovenReceipt: receipt } = checked;
  return verdict === "rejected" && receipt !== undefined ? { ok: true, receipt } : checked;
}
