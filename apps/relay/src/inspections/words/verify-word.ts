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
 * Checks the form of a signed word as it arrived. It must have no other members: they would be signed and
 * kept as well, and could be as deep as no evidence may be.
 */
export function checkWordForm(
  schema: Schema,
  value: unknown,
): { readonly ok: true } | Refusal<"request.invalid"> {
  const valid = validate(schema, value);
  if (!valid.ok) return valid;
  const known = Object.keys(schema.entries);
  const unknown = Object.keys(value as object).find((name) => !known.includes(name));
  return unknown === undefined ? { ok: true } : refuseField("", "must have no other members");
}

/** The members by which a word names its subject. */
export interface WordSubject {
  readonly task_id: string;
  readonly receipt_hash: string;
  readonly timestamp: number;
}

/** Refuses a word about another task or another receipt. */
export function checkSubject(
  { task_id, receipt_hash }: WordSubject,
  row: Pick<InspectionRow, "task_id" | "receipt_hash">,
): Refusal<"inspection.receipt_mismatch"> | undefined {
  const isSame = task_id === row.task_id && receipt_hash === row.receipt_hash;
  return isSame ? undefined : refuse("inspection.receipt_mismatch");
}

const MAX_SKEW_MS = 300_000;

/** Refuses a word that was not said now, so that it cannot be kept for later. */
export function checkTimestamp(
  { timestamp }: WordSubject,
  now: number,
): Refusal<"inspection.timestamp"> | undefined {
  return Math.abs(now - timestamp) <= MAX_SKEW_MS ? undefined : refuse("inspection.timestamp");
}

/** Lists the keys with which an agent signs now: its own and those of its devices. */
export async function listKeysInForce(read: Reader, agentId: string): Promise<string[]> {
  const rows = await listSigningKeys(read, agentId);
  return rows.filter(({ valid_until }) => valid_until === null).map((row) => row.public_key);
}
