import type { Verdict } from "@agent/crypto";
import * as v from "valibot";
import { hex32, text, wholeNumber } from "../fields.ts";
import {
  buildStatementChecks,
  dueShare,
  reasonText,
  type VerifyStatementOptions,
} from "./inspection-statement.ts";
import { createRecordVerifier, signRecord } from "./signed-record.ts";

/**
 * An arbiter's decision of a disputed inspection, signed by a key of that agent, or by the relay for its
 * operator (docs/decisions.md, 6).
 */
export const DecisionRecordSchema = v.object(
  {
    task_id: text,
    receipt_hash: hex32,
    // The relay id if the operator decides.
    arbiter_id: text,
    share: dueShare,
    reason: reasonText,
    timestamp: wholeNumber,
    suite: v.string("must be a string"),
    signature: text,
  },
  "is missing",
);

/**
 * `share` is the share of the amount due that the executor is paid; `timestamp` is in ms since the epoch by
 * the clock of the signer: the arbiter, or the relay for its operator.
 */
export type DecisionRecord = v.InferOutput<typeof DecisionRecordSchema>;

/** A decision before it is signed. */
export type DecisionRecordBody = Omit<DecisionRecord, "suite" | "signature">;

/** Every reason for which a decision is not valid. */
export type DecisionRefusal =
  | "decision.malformed"
  | "decision.suite"
  | "decision.wrong_signer"
  | "decision.task_mismatch"
  | "decision.receipt_mismatch"
  | "decision.key_missing"
  | "decision.signature_invalid";

/** Returns the body with `suite` and `signature`; `secretKey` is the arbiter's 32-byte seed. */
export function signDecisionRecord(
  body: DecisionRecordBody,
  secretKey: Uint8Array,
): DecisionRecord {
  return signRecord(body, secretKey);
}

const verifyRecord = createRecordVerifier({
  kind: "decision",
  schema: DecisionRecordSchema,
  checks: buildStatementChecks("decision", ({ arbiter_id }: DecisionRecord) => arbiter_id),
  listKeys: (_, { publicKeys = [] }: VerifyStatementOptions) => publicKeys,
});

/** Verifies an arbiter's decision; DecisionRefusal lists its codes. Never throws on a value. */
export function verifyDecisionRecord(
  value: unknown,
  options: VerifyStatementOptions = {},
): Verdict<DecisionRefusal> {
  return verifyRecord(value, options);
}
