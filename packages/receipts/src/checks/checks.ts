import { sha256Hex, SUITE } from "@agent/crypto";
import { isBoundToTask } from "./is-bound-to-task.ts";
import { isWithinScope } from "../delegation/delegation-scope.ts";
import { RECEIPT_LIMITS } from "../limits.ts";
import type { ReceiptRefusal, ReceiptWarning } from "../refusals.ts";
import type { ExecutionReceipt } from "../schema.ts";
import { isWithinTimeSpan, type TimeSpan, isTimeSpanAllowed } from "./time-span.ts";

/** What a receipt is judged against; what is undefined is not asked. */
export interface VerifyContext {
  /** The keys that may have signed, tried in turn. */
  readonly keys: readonly string[];
  readonly taskId: string | undefined;
  readonly prompt: string | undefined;
  readonly now: number | undefined;
  /** Hops from the outermost receipt to this one. */
  readonly depth: number;
  /** The span of the receipt that carries this one; undefined for the outermost. */
  readonly parent: TimeSpan | undefined;
}

/** Whether the receipt stands on a rung; undefined when the rung has nothing to ask of it. */
type Test = (receipt: ExecutionReceipt, known: VerifyContext) => boolean | undefined;

type Check = {
  readonly name: string;
  readonly test: Test | typeof SIGNATURE;
} & (
  | {
      /** Who fails here is refused, and no later rung is judged. */
      readonly refusal: ReceiptRefusal;
      readonly warning?: never;
    }
  | {
      readonly refusal?: never;
      /** Who fails here stays valid, and the verdict points it out. */
      readonly warning: ReceiptWarning;
    }
);

/** Stands in the list for the signature check, the one step that servers take off the event loop. */
export const SIGNATURE: unique symbol = Symbol("signature");

/** The checks of a receipt of right structure, in the order in which they refuse it. */
export const CHECKS: readonly Check[] = [
  { name: "time_span", refusal: "receipt.span", test: isTimeSpanAllowed },
  {
    name: "task_binding",
    refusal: "receipt.task_mismatch",
    test: (receipt, { taskId }) =>
      taskId === undefined ? undefined : isBoundToTask(receipt, taskId),
  },
  { name: "suite", refusal: "receipt.suite", test: (receipt) => receipt.suite === SUITE },
  { name: "key", refusal: "receipt.key_missing", test: (_, { keys }) => keys.length > 0 },
  { name: "signature", refusal: "receipt.signature_invalid", test: SIGNATURE },
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
