import { hashReceipt } from "@agent/receipts";
import type { Inspection, Received } from "@agent/wire";
import type { CallRefusal } from "../calls/refusal.ts";
import { sleep, type RetryOptions } from "../calls/retry.ts";
import type { RelayClient } from "../relay-client.ts";
import type { ProvenResult } from "./check-result.ts";
import { sendVerdict, type VerdictSigner } from "./send-verdict.ts";

/** True accepts a result; a reason rejects it, with the part of the due sum that is offered, 0 to below 1. */
export type InspectionAnswer = true | { readonly reason: string; readonly offer?: number };

/** Decides whether a verified result is what was ordered. */
export type Inspect = (result: ProvenResult) => InspectionAnswer | Promise<InspectionAnswer>;

/** The inspection after the answer; undefined for silence, which pays the executor. */
export type InspectionResult =
  | { readonly ok: true; readonly inspection: Received<typeof Inspection> }
  | CallRefusal
  | undefined;

/** Asks for the answer and sends it. An answer that throws or comes too late is none. */
export async function inspectResult(
  client: RelayClient,
  result: ProvenResult,
  { inspect, signer }: { readonly inspect: Inspect; readonly signer: VerdictSigner },
  retryOptions: RetryOptions,
): Promise<InspectionResult> {
  const answer = await awaitAnswer(result, inspect, retryOptions);
  if (answer === undefined) return undefined;
  const { task, receipt } = result;
  const sent = await sendVerdict(client, {
    ...retryOptions.environment,
    agentId: task.agent_id,
    taskId: task.task_id,
    receiptHash: hashReceipt(receipt),
    signer,
    statement: answer === true ? { verdict: "accepted" } : { verdict: "rejected", ...answer },
    ...(retryOptions.signal !== undefined && { signal: retryOptions.signal }),
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
