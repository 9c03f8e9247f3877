import { canonicalize, type Check, sha256Hex, type Verdict } from "@agent/crypto";
import * as v from "valibot";
import { hex32, text, wholeNumber } from "../fields.ts";
import { buildIssuerCheck, issuer, type IssuerKeys, listSigningKeys } from "../keys/issuer-key.ts";
import {
  buildSubjectChecks,
  dueShare,
  type VerifyStatementOptions,
} from "./inspection-statement.ts";
import { createRecordVerifier, signRecord } from "./signed-record.ts";

const OUTCOMES = ["accepted", "lapsed", "conceded", "unanswered", "decided", "undecided"] as const;

// A rejection, its contest, and the statement of the party that gives up.
const MAX_VERDICTS = 3;

/** A relay's statement of how an inspection ended, signed like a settlement record. */
export const OutcomeRecordSchema = v.pipe(
  v.object(
    {
      task_id: text,
      receipt_hash: hex32,
      outcome: v.picklist(OUTCOMES, `must be one of: ${OUTCOMES.join(", ")}`),
      share: dueShare,
      verdicts: v.pipe(
        v.array(hex32, "must be an array"),
        v.maxLength(MAX_VERDICTS, `must have at most ${MAX_VERDICTS} members`),
      ),
      decision: v.nullable(hex32),
      closed_at: wholeNumber,
      issuer,
      suite: v.string("must be a string"),
      signature: text,
    },
    "is missing",
  ),
  v.check(
    ({ outcome, decision }) => (outcome === "decided") === (decision !== null),
    "must name a decision if and only if it is decided",
  ),
);

/**
 * `verdicts` and `decision` are hashes of the signed statements in the order of their arrival (see
 * `hashInspectionStatement`), `closed_at` is in ms since the epoch by the relay's clock, `issuer`
 * a did:key.
 */
export type OutcomeRecord = v.InferOutput<typeof OutcomeRecordSchema>;

/** An outcome before it is signed. */
export type OutcomeRecordBody = Omit<OutcomeRecord, "suite" | "signature">;

/** Every reason for which an outcome is not valid. */
export type OutcomeRefusal =
  | "outcome.malformed"
  | "outcome.suite"
  | "outcome.wrong_issuer"
  | "outcome.task_mismatch"
  | "outcome.receipt_mismatch"
  | "outcome.signature_invalid";

/** Returns the body with `suite` and `signature`; `secretKey` is the relay's 32-byte seed. */
export function signOutcomeRecord(body: OutcomeRecordBody, secretKey: Uint8Array): OutcomeRecord {
  return signRecord(body, secretKey);
}

/**
 * Returns the SHA-256, in lower-case hex, of the canonical JSON of an outcome without its signature, by
 * which a settlement record refers to its outcome.
 */
export function hashOutcomeRecord(record: OutcomeRecord): string {
  const { signature: _, ...body } = record;
  return sha256Hex(canonicalize(body));
}

/** The verifier's own values; checks whose value is left out do not run. */
export type VerifyOutcomeOptions = IssuerKeys &
  Pick<VerifyStatementOptions, "taskId" | "receiptHash">;

const outcomeChecks: readonly Check<OutcomeRecord, VerifyOutcomeOptions, OutcomeRefusal>[] = [
  buildIssuerCheck("outcome"),
  ...buildSubjectChecks<OutcomeRecord, "outcome">("outcome"),
];

const verifyRecord = createRecordVerifier({
  kind: "outcome",
  schema: OutcomeRecordSchema,
  checks: outcomeChecks,
  listKeys: listSigningKeys,
});

/**
 * Verifies a relay's outcome with the key in its issuer's did:key. `publicKey` and `relayKeys` require a
 * certain relay, as in `verifySettlementRecord`. Never throws on a value.
 */
export function verifyOutcomeRecord(
  value: unknown,
  options: VerifyOutcomeOptions = {},
): Verdict<OutcomeRefusal> {
  return verifyRecord(value, options);
}
