import { hexToBytes, signJson, SUITE, unlessMalformed, verifyJson } from "@agent/crypto";
import { id, timestamp } from "@agent/wire/engine";
import * as v from "valibot";
import { hex32, signature, uuid } from "../fields.ts";

/**
 * A relay's signed statement that it accepted the result of a task, for which it then owes the
 * settlement. `signature` is over the canonical JSON of the other members, `timestamp` in ms since the
 * epoch by the accepting relay's clock.
 */
export const ResultAcceptanceSchema = v.object({
  status: v.literal("accepted"),
  task_id: id,
  /** The SHA-256 of the canonical JSON of the whole receipt. */
  receipt_hash: hex32,
  /** The id of the accepting relay. */
  relay_id: uuid,
  timestamp,
  suite: v.literal(SUITE),
  signature,
});

/** A relay's signed statement that it accepted a result. */
export type ResultAcceptance = v.InferOutput<typeof ResultAcceptanceSchema>;

/** The result to which an acceptance refers. */
export interface AcceptedResult {
  readonly taskId: string;
  readonly receiptHash: string;
  readonly relayId: string;
}

/**
 * Creates the signed answer to a result at `now`, in ms since the epoch by the accepting relay's clock;
 * `secretKey` is its seed.
 */
export function createResultAcceptance(
  { taskId, receiptHash, relayId }: AcceptedResult,
  { secretKey, now }: { readonly secretKey: Uint8Array; readonly now: number },
): ResultAcceptance {
  const body: Omit<ResultAcceptance, "signature"> = {
    status: "accepted",
    task_id: taskId,
    receipt_hash: receiptHash,
    relay_id: relayId,
    timestamp: now,
    suite: SUITE,
  };
  return signJson(body, secretKey);
}

/**
 * Parses the acceptance in an answer to a result; null unless it refers to this result and is
 * signed with `publicKey` (64 hex digits). Other members of the answer are ignored.
 */
export function parseResultAcceptance(
  answer: unknown,
  expected: AcceptedResult & { readonly publicKey: string },
): ResultAcceptance | null {
  const parsed = v.safeParse(ResultAcceptanceSchema, answer);
  if (!parsed.success) return null;
  const accepted = parsed.output;
  const matchesResult =
    accepted.task_id === expected.taskId &&
    accepted.receipt_hash === expected.receiptHash &&
    accepted.relay_id === expected.relayId;
  return matchesResult && isSigned(accepted, expected.publicKey) ? accepted : null;
}

function isSigned(accepted: ResultAcceptance, publicKey: string): boolean {
  return unlessMalformed(() => verifyJson(accepted, hexToBytes(publicKey))) === true;
}
