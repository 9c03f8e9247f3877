import {
  type ExecutionReceipt,
  type ReceiptVerdict,
  type RelayAttestation,
  RelayAttestationSchema,
  verifyAttestation,
  verifyReceipt,
  verifyReceiptAsync,
} from "@agent/receipts";
import * as v from "valibot";
import { type TaskResult, TaskResultSchema } from "../messages/task.ts";
import type { OutboundTask } from "./outbound-task.ts";
import { parseMessage } from "../parse-message.ts";
import { type FederationRefusal, refuse, type ResultCode } from "../refusals.ts";

/** The context of a result: the forwarded task and the peer to which it was sent. */
export interface ResultContext {
  readonly task: Pick<OutboundTask, "taskId" | "agentId" | "publicKey">;
  /** The id of the relay that verifies. */
  readonly self: string;
  readonly peer: { readonly relayId: string; readonly publicKey: string };
}

/** A result whose receipt and attestation both verify. */
export interface VerifiedResult {
  readonly ok: true;
  readonly receipt: ExecutionReceipt;
  readonly receiptHash: string;
  readonly attestation: RelayAttestation;
}

/**
 * Verifies a result under the key that was pinned when the task was sent, never under one from the
 * result (specification, "Task result return": both signatures). Refused: `federation.malformed`,
 * `federation.wrong_sender`, `result.key_mismatch`, `result.receipt_invalid`,
 * `result.attestation_invalid`, the last two with the verifier's code as detail.
 */
export function verifyResult(
  value: unknown,
  context: ResultContext,
): VerifiedResult | FederationRefusal<ResultCode> {
  const read = parseMessage(TaskResultSchema, value);
  if (!read.ok) return read;
  const refused = checkTerms(read.message, context);
  if (refused !== null) return refused;
  return checkResult(
    read.message,
    context,
    verifyReceipt(read.message.receipt, buildReceiptOptions(context)),
  );
}

/**
 * Does the same as `verifyResult` for a message that its schema has read, with the receipt's signatures
 * verified off the event loop.
 */
export async function verifyResultAsync(
  message: TaskResult,
  context: ResultContext,
): Promise<VerifiedResult | FederationRefusal<ResultCode>> {
  const refused = checkTerms(message, context);
  if (refused !== null) return refused;
  const verdict = await verifyReceiptAsync(message.receipt, buildReceiptOptions(context));
  return checkResult(message, context, verdict);
}

function buildReceiptOptions({ task }: ResultContext) {
  return { publicKey: task.publicKey, taskId: task.taskId };
}

function checkTerms(
  { task_id, origin_relay, public_key }: TaskResult,
  { task, self, peer }: ResultContext,
): FederationRefusal<ResultCode> | null {
  if (task_id !== task.taskId) return refuse("result.task_not_found");
  if (![self, peer.relayId].includes(origin_relay)) return refuse("federation.wrong_sender");
  return public_key === task.publicKey ? null : refuse("result.key_mismatch");
}

function checkResult(
  { attestation }: TaskResult,
  { task, peer }: ResultContext,
  verdict: ReceiptVerdict,
): VerifiedResult | FederationRefusal<ResultCode> {
  if (!verdict.valid) return refuse("result.receipt_invalid", verdict.code);
  const { receipt, hash } = verdict;
  if (receipt.agent_id !== task.agentId) return refuse("result.receipt_invalid", "agent_id");
  const attestationVerdict = verifyAttestation(attestation, {
    publicKey: peer.publicKey,
    relayId: peer.relayId,
    taskId: task.taskId,
    receiptHash: hash,
  });
  if (!attestationVerdict.valid)
    return refuse("result.attestation_invalid", attestationVerdict.code);
  return {
    ok: true,
    receipt,
    receiptHash: hash,
    attestation: v.parse(RelayAttestationSchema, attestation),
  };
}
