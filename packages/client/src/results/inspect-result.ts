import { type ExecutionReceipt, hashReceipt } from "@agent/receipts";
import type { Inspection, Received } from "@agent/wire";
import type { CallRefusal } from "../calls/refusal.ts";
import { sleep, type RetryOptions } from "../calls/retry.ts";
import type { RelayClient } from "../relay-client.ts";
import type { ProvenResult, UnprovenResult } from "./check-result.ts";
import { sendVerdict, type VerdictSigner } from "./send-verdict.ts";

/** True accepts a result; a reason rejects it, with the offered share of the amount due, 0 to below 1. */
export type InspectionAnswer = true | { readonly reason: string; readonly offer?: number };

/** Decides whether a verified result is what was ordered. */
export type Inspect = (result: ProvenResult) => InspectionAnswer | Promise<InspectionAnswer>;

/** The inspection after the answer; undefined if no verdict was given, so that the executor is paid. */
export type InspectionResult =
  | { readonly ok: true; readonly inspection: Received<typeof Inspection> }
  | CallRefusal
  | undefined;

interface Inspector {
  readonly inspect: Inspect;
  readonly signer: VerdictSigner;
}

/** Calls `inspect` and sends its verdict. If it throws or answers too late, no verdict is sent. */
export async function inspectResult(
  client: RelayClient,
  result: ProvenResult,
  { inspect, signer }: Inspector,
  retryOptions: RetryOptions,
): Promise<InspectionResult> {
  const answer = await awaitAnswer(result, inspect, retryOptions);
  if (answer === undefined) return undefined;
  const { task, receipt } = result;
  const target = { agentId: task.agent_id, taskId: task.task_id, receipt, signer };
  return sendAnswer(client, target, answer, retryOptions);
}

interface UnprovenTask {
  readonly agentId: string;
  readonly taskId: string;
  readonly result: UnprovenResult;
  readonly signer: VerdictSigner;
}

/**
 * Rejects a completed result whose receipt does not prove the work. The relay accepts some of these
 * receipts, and without a verdict of the delegator, which refuses them, the work would be paid. Undefined
 * if there is nothing to reject.
 */
export async function rejectUnproven(
  client: RelayClient,
  { result: { code, unprovenReceipt: receipt }, ...target }: UnprovenTask,
  retryOptions: RetryOptions,
): Promise<InspectionResult> {
  if (receipt?.status !== "completed") return undefined;
  const reason = `The receipt does not prove the work: ${code}`;
  return sendAnswer(client, { ...target, receipt }, { reason }, retryOptions);
}

interface AnsweredTask {
  readonly agentId: string;
  readonly taskId: string;
  readonly receipt: ExecutionReceipt;
  readonly signer: VerdictSigner;
}

async function sendAnswer(
  client: RelayClient,
  { receipt, ...target }: AnsweredTask,
  answer: InspectionAnswer,
  { environment, signal }: RetryOptions,
): Promise<InspectionResult> {
  const sent = await sendVerdict(client, {
    ...environment,
    ...target,
    receiptHash: hashReceipt(receipt),
    statement: answer === true ? { verdict: "accepted" } : { verdict: "rejected", ...answer },
    ...(signal !== undefined && { signal }),
  });
  return sent.ok ? { ok: true, inspection: sent.body } : sent;
}

async function awaitAnswer(
  result: ProvenResult,
  inspect: Inspect,
  { deadline, environment, signal }: RetryOptions,
): Promise<InspectionAnswer | undefined> {
  const answered = new AbortController();
  const signals = signal === undefined ? [answered.signal] : [answered.signal, signal];
  const ended = AbortSignal.any(signals);
  const timeout = sleep(Math.max(0, deadline - environment.now()), { environment, signal: ended });
  const ask = async () => inspect(result);
  const asked = ask().catch(() => undefined);
  const answer = await Promise.race([asked, timeout.then(() => undefined)]);
  answered.abort();
  return answer;
}
