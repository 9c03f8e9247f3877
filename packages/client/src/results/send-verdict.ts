import { signVerdictRecord, type VerdictRecord } from "@agent/receipts";
import type { Operations } from "@agent/wire";
import { CALL_TIMEOUT_MS, type CallResult } from "../calls/call.ts";
import { retryRepeatable } from "../calls/retry.ts";
import { createEnvironment, type Environment } from "../environment.ts";
import type { PerCallOptions, RelayClient } from "../relay-client.ts";

/**
 * The party that gives the verdict: an agent with the 32-byte seed of its own key or of one of its devices.
 */
export interface VerdictSigner {
  readonly agentId: string;
  readonly secretKey: Uint8Array;
}

/** A verdict on a result, its time limit, and replacements for parts of the platform's environment. */
export interface SendVerdictOptions
  extends Partial<Omit<Environment, "fetch">>, Pick<PerCallOptions, "timeoutMs" | "signal"> {
  /** The agent that the task was submitted to. */
  readonly agentId: string;
  readonly taskId: string;
  /** The `hashReceipt` of the receipt. */
  readonly receiptHash: string;
  readonly signer: VerdictSigner;
  /** `offer` is the share of the amount due that a rejection offers, 0 to below 1. */
  readonly statement: Pick<VerdictRecord, "verdict" | "reason" | "offer">;
}

/**
 * Signs a party's verdict on a result and sends it to the relay, which accepts the same statement twice.
 * Refused like operation `giveVerdict`.
 */
export async function sendVerdict(
  client: RelayClient,
  options: SendVerdictOptions,
): Promise<CallResult<Operations["giveVerdict"]>> {
  const { agentId, taskId, receiptHash, signer, statement, signal } = options;
  const environment = createEnvironment(options);
  const timestamp = environment.now();
  const deadline = timestamp + (options.timeoutMs ?? CALL_TIMEOUT_MS);
  const body = signVerdictRecord(
    {
      task_id: taskId,
      receipt_hash: receiptHash,
      agent_id: signer.agentId,
      ...statement,
      timestamp,
    },
    signer.secretKey,
  );
  const retryOptions = { deadline, environment, signal };
  const params = { agentId, taskId };
  return retryRepeatable((perCall) => client.giveVerdict({ params, body }, perCall), retryOptions);
}
