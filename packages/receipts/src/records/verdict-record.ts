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

const VERDICTS = ["accepted", "rejected", "conceded", "contested"] as const;

/** A party's statement in an inspection before payment, signed by a key of the agent (docs/decisions.md, 6). */
export const VerdictRecordSchema = v.pipe(
  v.object(
    {
      task_id: text,
      receipt_hash: hex32,
      agent_id: text,
      verdict: v.picklist(VERDICTS, `must be one of: ${VERDICTS.join(", ")}`),
      reason: v.optional(reasonText),
      // The share of the amount due that a submitter offers when it rejects.
      offer: v.optional(v.pipe(dueShare, v.ltValue(1, "must be below 1"))),
      timestamp: wholeNumber,
      suite: v.string("must be a string"),
      signature: text,
    },
    "is missing",
  ),
  v.check(
    (statement) => hasReason(statement) === (statement.reason !== undefined),
    "must have a reason if and only if it is rejected or contested",
  ),
  v.check(
    ({ verdict, offer }) => offer === undefined || verdict === "rejected",
    "must have an offer only if it is rejected",
  ),
);

function hasReason({ verdict }: { readonly verdict: (typeof VERDICTS)[number] }): boolean {
  return verdict === "rejected" || verdict === "contested";
}

/**
 * `timestamp` is in ms since the epoch by the signer's clock, `receipt_hash` the SHA-256 of the canonical
 * JSON of the whole receipt.
 */
export type VerdictRecord = v.InferOutput<typeof VerdictRecordSchema>;

/** A verdict before it is signed. */
export type VerdictRecordBody = Omit<VerdictRecord, "suite" | "signature">;

/** Every reason for which a verdict is not valid. */
export type VerdictRefusal =
  | "verdict.malformed"
  | "verdict.suite"
  | "verdict.wrong_signer"
  | "verdict.task_mismatch"
  | "verdict.receipt_mismatch"
  | "verdict.key_missing"
  | "verdict.signature_invalid";

/** Returns the body with `suite` and `signature`; `secretKey` is the agent's or device's 32-byte seed. */
export function signVerdictRecord(body: VerdictRecordBody, secretKey: Uint8Array): VerdictRecord {
  return signRecord(body, secretKey);
}

const verifyRecord = createRecordVerifier({
  kind: "verdict",
  schema: VerdictRecordSchema,
  checks: buildStatementChecks("verdict", ({ agent_id }: VerdictRecord) => agent_id),
  listKeys: (_, { publicKeys = [] }: VerifyStatementOptions) => publicKeys,
});

/** Verifies a party's verdict; VerdictRefusal lists its codes. Never throws on a value. */
export function verifyVerdictRecord(
  value: unknown,
  options: VerifyStatementOptions = {},
): Verdict<VerdictRefusal> {
  return verifyRecord(value, options);
}
