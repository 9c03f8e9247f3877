import { sha256Hex, SUITE } from "@agent/crypto";
import { isBoundTo } from "./binding.ts";
import { staysInScope } from "./delegated-scope.ts";
import { RECEIPT_LIMITS } from "./limits.ts";
import type { ReceiptRefusal, ReceiptRemark } from "./refusals.ts";
import type { ExecutionReceipt } from "./schema.ts";
import { liesInside, type Span, spanHolds } from "./time-span.ts";

/** What a receipt is judged against; what is undefined is not asked. */
export interface Known {
  /** The keys that may have signed, tried in turn. */
  readonly keys: readonly string[];
  readonly taskId: string | undefined;
  readonly prompt: string | undefined;
  readonly now: number | undefined;
  /** Hops from the outermost receipt to this one. */
  readonly depth: number;
  /** The span of the receipt that carries this one; undefined for the outermost. */
  readonly parent: Span | undefined;
}

/** Whether the receipt stands on a rung; undefined when the rung has nothing to ask of it. */
type Judge = (receipt: ExecutionReceipt, known: Known) => boolean | undefined;

type Rung = {
  readonly name: string;
  readonly holds: Judge | typeof SIGNATURE;
} & (
  | {
      /** Who fails here is refused, and no later rung is judged. */
      readonly refusal: ReceiptRefusal;
      readonly remark?: never;
    }
  | {
      readonly refusal?: never;
      /** Who fails here stays valid, and the verdict points it out. */
      readonly remark: ReceiptRemark;
    }
);

/** Stands in the list for the signature check, the one step that servers take off the event loop. */
export const SIGNATURE: unique symbol = Symbol("signature");

/** The checks of a receipt of right structure, in the order in which they refuse it. */
export const LADDER: readonly Rung[] = [
  { name: "time_span", refusal: "receipt.span", holds: spanHolds },
  {
    name: "task_binding",
    refusal: "receipt.task_mismatch",
    holds: (receipt, { taskId }) => (taskId === undefined ? undefined : isBoundTo(receipt, taskId)),
  },
  { name: "suite", refusal: "receipt.suite", holds: (receipt) => receipt.suite === SUITE },
  { name: "key", refusal: "receipt.key_missing", holds: (_, { keys }) => keys.length > 0 },
  { name: "signature", refusal: "receipt.signature_invalid", holds: SIGNATURE },
  {
    name: "delegated_scope",
    refusal: "receipt.out_of_scope",
    holds: ({ tools_used, delegated_scope }) =>
      delegated_scope === undefined ? undefined : staysInScope(tools_used, delegated_scope),
  },
  {
    name: "prompt_hash",
    remark: "receipt.prompt_hash_mismatch",
    holds: (receipt, { prompt }) =>
      prompt === undefined ? undefined : sha256Hex(prompt) === receipt.prompt_hash,
  },
  {
    name: "result_hash",
    remark: "receipt.result_hash_mismatch",
    holds: (receipt) => sha256Hex(receipt.result) === receipt.result_hash,
  },
  {
    name: "clock",
    remark: "receipt.completed_in_future",
    holds: (receipt, { now }) =>
      now === undefined ? undefined : receipt.completed_at <= now + RECEIPT_LIMITS.clockSkewMs,
  },
  {
    name: "nested_span",
    remark: "receipt.nested_outside",
    holds: (receipt, { parent }) =>
      parent === undefined ? undefined : liesInside(receipt, parent),
  },
  {
    name: "hops",
    remark: "receipt.too_many_hops",
    holds: ({ delegation_receipts: nested = [] }, { depth }) =>
      nested.length === 0 ? undefined : depth < RECEIPT_LIMITS.maxHops,
  },
];
