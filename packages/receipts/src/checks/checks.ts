import { type Check, sha256Hex, SUITE } from "@agent/crypto";
import { isBoundToTask } from "./is-bound-to-task.ts";
import { isWithinScope } from "../delegation/delegation-scope.ts";
import { RECEIPT_LIMITS } from "../limits.ts";
import type { ReceiptRefusal, ReceiptWarning } from "../refusals.ts";
import type { ExecutionReceipt } from "../schema.ts";
import type { SignatureClaim } from "./signature.ts";
import { isWithinTimeSpan, type TimeSpan, isTimeSpanAllowed } from "./time-span.ts";

/** The values that a receipt is checked against; an undefined one is not checked. */
export interface VerifyContext {
  /** The canonical JSON of all members but `signature`. */
  readonly signedText: string;
  /** The keys that may have signed, in the order in which they are tried. */
  readonly keys: readonly string[];
  readonly taskId: string | undefined;
  readonly prompt: string | undefined;
  readonly now: number | undefined;
  /** Hops from the outermost receipt to this one. */
  readonly depth: number;
  /** The time span of the receipt around this one; undefined for the outermost. */
  readonly parent: TimeSpan | undefined;
}

/** The checks of a receipt whose structure is valid, in the order in which they run. */
export const CHECKS: readonly Check<
  ExecutionReceipt,
  VerifyContext,
  ReceiptRefusal,
  ReceiptWarning,
  SignatureClaim
>[] = [
  { name: "time_span", refusal: "receipt.span", test: isTimeSpanAllowed },
  {
    name: "task_binding",
    refusal: "receipt.task_mismatch",
    test: (receipt, { taskId }) =>
      taskId === undefined ? undefined : isBoundToTask(receipt, taskId),
  },
  { name: "suite", refusal: "receipt.suite", test: (receipt) => receipt.suite === SUITE },
  { name: "key", refusal: "receipt.key_missing", test: (_, { keys }) => keys.length > 0 },
  {
    name: "signature",
    refusal: "receipt.signature_invalid",
    // Made by the caller, because servers verify signatures off the event loop.
    test: ({ signature }, { signedText, keys }) => ({ signature, signedText, keys }),
  },
  {
    name: "delegated_scope",
    refusal: "receipt.out_of_scope",
    test: ({ tools_used, delegated_scope }) =>
      delegated_scope === undefined ? undefined : isWithinScope(tools_used, delegated_scope),
  },
  {
    name: "prompt_hash",
    warning: "receipt.prompt_hash_mismatch",
    test: (receipt, { prompt }) =>
      prompt === undefined ? undefined : sha256Hex(prompt) === receipt.prompt_hash,
  },
  {
    name: "result_hash",
    warning: "receipt.result_hash_mismatch",
    test: (receipt) => sha256Hex(receipt.result) === receipt.result_hash,
  },
  {
    name: "clock",
    warning: "receipt.completed_in_future",
    test: (receipt, { now }) =>
      now === undefined ? undefined : receipt.completed_at <= now + RECEIPT_LIMITS.clockSkewMs,
  },
  {
    name: "nested_span",
    warning: "receipt.nested_outside",
    test: (receipt, { parent }) =>
      parent === undefined ? undefined : isWithinTimeSpan(receipt, parent),
  },
  {
    name: "hops",
    warning: "receipt.too_many_hops",
    test: ({ delegation_receipts: nested = [] }, { depth }) =>
      nested.length === 0 ? undefined : depth < RECEIPT_LIMITS.maxHops,
  },
];
