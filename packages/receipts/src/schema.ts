import * as v from "valibot";
import { isUuid, SUITE } from "@agent/crypto";
import { hex32, plainObject, text, wholeNumber } from "./fields.ts";
import { RECEIPT_LIMITS } from "./limits.ts";
import { countNested } from "./checks/count-nested.ts";

const memberRules = {
  task_id: text,
  agent_id: v.pipe(v.string("must be a string"), v.check(isUuid, "must be a UUID")),
  public_key: v.optional(hex32),
  device_id: text,
  submitted_at: wholeNumber,
  completed_at: wholeNumber,
  status: v.picklist(
    ["completed", "failed", "denied"],
    "must be one of: completed, failed, denied",
  ),
  result: v.string("must be a string"),
  tools_used: v.array(v.string("must be a string"), "must be an array"),
  memories_formed: v.pipe(wholeNumber, v.minValue(0, "must not be negative")),
  prompt_hash: hex32,
  result_hash: hex32,
  relay_task_id: v.optional(text),
  delegated_scope: v.optional(v.string("must be a string")),
  signature: text,
};

/**
 * A signed record of one execution (specification, ExecutionReceipt): times in ms since the epoch,
 * `completed_at` by the agent's clock, `submitted_at` as the relay stated it or by the agent's clock; hashes
 * and key in hex, signature in base64url. Members without a name here are signed as well.
 */
export interface ExecutionReceipt extends v.InferOutput<
  v.ObjectSchema<typeof memberRules, undefined>
> {
  suite: string;
  delegation_receipts?: ExecutionReceipt[] | undefined;
}

/**
 * The rules for a receipt's own members, except `suite` and the content of nested receipts: an unknown
 * suite has its own refusal, and nested receipts are verified separately.
 */
export const ReceiptMembersSchema = v.pipe(
  plainObject,
  v.object(
    {
      ...memberRules,
      delegation_receipts: v.optional(v.array(plainObject, "must be an array")),
    },
    "is missing",
  ),
);

/**
 * The whole schema of a receipt, for contracts and generated documents; `parseReceipt` applies all
 * rules.
 *
 * Verify the original value, not this schema's output: valibot drops members called `__proto__`,
 * and they are signed like any other.
 */
export const ExecutionReceiptSchema: v.GenericSchema<ExecutionReceipt> = v.looseObject({
  ...memberRules,
  suite: v.literal(SUITE),
  delegation_receipts: v.optional(v.array(v.lazy((nested) => selectSchema(nested)))),
});

const tooManyNested = v.custom<ExecutionReceipt>(
  () => false,
  "must hold at most 256 nested receipts",
);

/** A lazy schema recurses as deep as its input, so the size of a tree is checked first. */
function selectSchema(nested: unknown): v.GenericSchema<ExecutionReceipt> {
  return countNested(nested) < RECEIPT_LIMITS.maxNested ? ExecutionReceiptSchema : tooManyNested;
}
