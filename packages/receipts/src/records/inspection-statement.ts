import { canonicalize, sha256Hex, type Check } from "@agent/crypto";
import * as v from "valibot";
import { money } from "../fields.ts";

/** A share of the amount due for a task: 0 to 1 with at most 6 decimals. */
export const dueShare = v.pipe(money, v.maxValue(1, "must be at most 1"));

const MAX_REASON_LENGTH = 4_096;

/**
 * The reason that a party or an arbiter gives. It is untrusted text and must never be an instruction to a
 * model.
 */
export const reasonText = v.pipe(
  v.string("must be a string"),
  v.nonEmpty("must not be empty"),
  v.maxLength(MAX_REASON_LENGTH, `must have at most ${MAX_REASON_LENGTH} characters`),
  // Canonical JSON has no form for it, so it could not be signed.
  v.check((reason) => reason.isWellFormed(), "must be well-formed Unicode"),
);

/** The verifier's own values; checks whose value is left out do not run. */
export interface VerifyStatementOptions {
  /**
   * The keys in force of the party that must have signed, as 64 hex digits. The statements of an inspection
   * contain no key, so without these keys none is valid.
   */
  readonly publicKeys?: readonly string[] | undefined;
  /** The party that must have signed: an agent, or the relay for its operator. */
  readonly signerId?: string | undefined;
  /** The task that it must be about. */
  readonly taskId?: string | undefined;
  /** The receipt that it must be about, by its `hashReceipt`. */
  readonly receiptHash?: string | undefined;
}

interface Statement {
  readonly task_id: string;
  readonly receipt_hash: string;
}

type StatementRefusal<Kind extends string> =
  `${Kind}.${"wrong_signer" | "task_mismatch" | "receipt_mismatch" | "key_missing"}`;

/** Builds the checks between suite and signature of one kind of statement. */
export function buildStatementChecks<Members extends Statement, Kind extends string>(
  kind: Kind,
  getSignerId: (statement: Members) => string,
): readonly Check<Members, VerifyStatementOptions, StatementRefusal<Kind>>[] {
  return [
    {
      name: "signer",
      refusal: `${kind}.wrong_signer`,
      test: (statement, { signerId }) =>
        signerId === undefined || getSignerId(statement) === signerId,
    },
    ...buildSubjectChecks<Members, Kind>(kind),
    {
      name: "key",
      refusal: `${kind}.key_missing`,
      test: (_, { publicKeys = [] }) => publicKeys.length > 0,
    },
  ];
}

/** Builds the checks of the task and the receipt that a statement or an outcome is about. */
export function buildSubjectChecks<Members extends Statement, Kind extends string>(
  kind: Kind,
): readonly Check<
  Members,
  Pick<VerifyStatementOptions, "taskId" | "receiptHash">,
  `${Kind}.${"task_mismatch" | "receipt_mismatch"}`
>[] {
  return [
    {
      name: "task",
      refusal: `${kind}.task_mismatch`,
      test: ({ task_id }, { taskId }) => taskId === undefined || task_id === taskId,
    },
    {
      name: "receipt",
      refusal: `${kind}.receipt_mismatch`,
      test: ({ receipt_hash }, { receiptHash }) =>
        receiptHash === undefined || receipt_hash === receiptHash,
    },
  ];
}

/**
 * Returns the SHA-256, in lower-case hex, of the canonical JSON of a whole signed verdict or decision, by
 * which an outcome refers to it.
 */
export function hashInspectionStatement(statement: object): string {
  return sha256Hex(canonicalize(statement));
}
