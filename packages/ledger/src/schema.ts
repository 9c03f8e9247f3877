import * as v from "valibot";
import { isUuid } from "@agent/crypto";
import { LedgerEventSchema } from "./events.ts";
import { count, hex32, looseMembers, oneOf, string, text, texts, time } from "./fields.ts";
import { LEDGER_STATUSES, STEP_STATUSES } from "./statuses.ts";

/** The only version of the format. */
export const LEDGER_SPEC = "agent/execution-ledger@1.0";

const stepRules = {
  step_id: text,
  ordinal: count,
  description: string,
  status: oneOf(STEP_STATUSES),
  tools_used: texts,
  tool_calls: count,
  started_at: v.nullish(time),
  completed_at: v.nullish(time),
  delegation: v.optional(looseMembers({ receipt_hash: hex32 })),
};

const summaryRules = {
  task_id: text,
  agent_id: text,
  device_id: text,
  status: text,
  tools_used: texts,
  signature_prefix: v.pipe(
    string,
    v.regex(/^[A-Za-z0-9_-]{16}$/, "must be the first 16 characters of a signature"),
  ),
};

const ledgerRules = {
  agent_id: v.pipe(string, v.check(isUuid, "must be a UUID")),
  goal_id: text,
  plan_id: string,
  started_at: time,
  completed_at: v.nullish(time),
  status: oneOf(LEDGER_STATUSES),
  timeline: v.array(LedgerEventSchema, "must be an array"),
  steps: v.array(looseMembers(stepRules), "must be an array"),
  delegation_receipts: v.optional(v.array(looseMembers(summaryRules), "must be an array")),
  content_hash: hex32,
  signature: v.optional(text),
};

/** One step; times in ms since the epoch, null until it happens. */
export interface LedgerStep extends Omit<OutputOf<typeof stepRules>, "delegation"> {
  /** The SHA-256, in hex, of the receipt of the task that completed the step. */
  delegation?: { receipt_hash: string } | undefined;
}

/** A reference to a receipt, which proves nothing by itself. */
export interface ReceiptSummary extends OutputOf<typeof summaryRules> {}

/**
 * An agent's work for a goal (specification, Execution ledger): times in ms since the epoch, hashes
 * in hex, the signature in base64url and absent if a relay reconstructed the ledger. `plan_id` is
 * empty if no plan is known.
 */
export interface Ledger extends Omit<
  OutputOf<typeof ledgerRules>,
  "steps" | "delegation_receipts"
> {
  spec: string;
  steps: LedgerStep[];
  delegation_receipts?: ReceiptSummary[] | undefined;
}

type OutputOf<Rules extends v.ObjectEntries> = v.InferOutput<v.ObjectSchema<Rules, undefined>>;

/** The rules for all members but `spec`: an unknown version has a refusal of its own. */
export const LedgerMembersSchema = looseMembers({ ...ledgerRules, spec: string });

/**
 * The whole schema of a ledger, for contracts and generated documents; `parseLedger` applies all
 * rules.
 *
 * Verify the original value, not this schema's output, which lacks members called `__proto__`.
 */
export const LedgerSchema: v.GenericSchema<Ledger> = looseMembers({
  ...ledgerRules,
  spec: v.literal(LEDGER_SPEC),
});
