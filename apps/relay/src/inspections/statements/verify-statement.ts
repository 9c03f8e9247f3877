import { RECEIPT_LIMITS } from "@agent/receipts";
import { refuse, type Refusal } from "@agent/wire";
import type { GenericSchema } from "valibot";
import { listSigningKeys } from "../../agents/keys/key-store.ts";
import { refuseField, validate } from "../../http/server/validate.ts";
import type { Reader } from "../../storage/storage.ts";
import type { InspectionRow } from "../../storage/tables/inspections.ts";

interface Schema extends GenericSchema {
  readonly entries: object;
}

/**
 * Checks the form of a signed statement as it arrived. It must have no other members: they would be signed
 * and stored too, and could be nested deeper than evidence may be.
 */
export function checkStatementForm(
  schema: Schema,
  value: unknown,
): { readonly ok: true } | Refusal<"request.invalid"> {
  const valid = validate(schema, value);
  if (!valid.ok) return valid;
  const known = Object.keys(schema.entries);
  const unknown = Object.keys(value as object).find((name) => !known.includes(name));
  return unknown === undefined ? { ok: true } : refuseField("", "must have no other members");
}

/** The members by which a statement names its subject. */
export interface StatementSubject {
  readonly task_id: string;
  readonly receipt_hash: string;
  readonly timestamp: number;
}

/** Refuses a statement about another task or another receipt. */
export function checkSubject(
  { task_id, receipt_hash }: StatementSubject,
  row: Pick<InspectionRow, "task_id" | "receipt_hash">,
): Refusal<"inspection.receipt_mismatch"> | undefined {
  const isSame = task_id === row.task_id && receipt_hash === row.receipt_hash;
  return isSame ? undefined : refuse("inspection.receipt_mismatch");
}

/** Refuses a statement that was not made now, so that it cannot be kept for later. */
export function checkTimestamp(
  { timestamp }: StatementSubject,
  now: number,
): Refusal<"inspection.timestamp"> | undefined {
  const skew = Math.abs(now - timestamp);
  return skew <= RECEIPT_LIMITS.statementSkewMs ? undefined : refuse("inspection.timestamp");
}

/** A statement that was signed by a key in force. */
export interface VerifiedStatement {
  /** Returns whether that is still so, because its key may have ended before the transaction began. */
  readonly isInForce: (tx: Reader) => Promise<boolean>;
}

/** Verifies a statement by the keys in force of its signer; undefined if none of them has signed it. */
export async function verifyInForce(
  read: Reader,
  signerId: string,
  isSigned: (publicKeys: readonly string[]) => boolean,
): Promise<VerifiedStatement | undefined> {
  const publicKeys = await listKeysInForce(read, signerId);
  if (!isSigned(publicKeys)) return undefined;
  return {
    async isInForce(tx) {
      const present = await listKeysInForce(tx, signerId);
      return publicKeys.every((key) => present.includes(key)) || isSigned(present);
    },
  };
}

/** Lists the keys with which an agent can sign now: its own and those of its devices. */
async function listKeysInForce(read: Reader, agentId: string): Promise<string[]> {
  const rows = await listSigningKeys(read, agentId);
  return rows.filter(({ valid_until }) => valid_until === null).map((row) => row.public_key);
}
