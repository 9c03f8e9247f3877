import * as v from "valibot";
import { readJsonText, unlessMalformed } from "@agent/crypto";
import { RECEIPT_LIMITS } from "./limits.ts";
import { ParsedReceipt } from "./parsed-receipt.ts";
import type { StructureRefusal } from "./refusals.ts";
import { type ExecutionReceipt, ReceiptMembersSchema } from "./schema.ts";
import { countNested } from "./checks/count-nested.ts";

/** The fault of a malformed receipt: the member and the rule that it breaks, never its content. */
export interface ReceiptFault {
  readonly ok: false;
  readonly code: StructureRefusal;
  /** The path of the member, joined with dots; empty if the fault is in no single member. */
  readonly path: string;
  readonly message: string;
}

/**
 * Parses a receipt, given as a value or as its JSON text, for `verifyReceipt`. Does not check its suite,
 * its signature or the members of nested receipts. Refuses with `receipt.malformed`, or with
 * `receipt.too_many_nested` above 256 nested receipts in total.
 */
export function parseReceipt(value: unknown): ParsedReceipt | ReceiptFault {
  const parsed = typeof value === "string" ? readJsonText(value) : { value };
  if ("fault" in parsed) return malformedReceipt(parsed.fault.path, parsed.fault.message);
  const shape = checkReceiptMembers(parsed.value);
  if (!shape.ok) return shape;
  if (countNested(shape.receipt) > RECEIPT_LIMITS.maxNested) {
    return {
      ok: false,
      code: "receipt.too_many_nested",
      path: "delegation_receipts",
      message: `must hold at most ${RECEIPT_LIMITS.maxNested} nested receipts in all`,
    };
  }
  return (
    unlessMalformed(() => new ParsedReceipt(shape.receipt)) ??
    malformedReceipt("", "must be plain JSON data of at most 64 levels, without lone surrogates")
  );
}

/** Checks a receipt's own members; nested receipts must only be objects. */
export function checkReceiptMembers(
  value: unknown,
): { readonly ok: true; readonly receipt: ExecutionReceipt } | ReceiptFault {
  const checked = v.safeParse(ReceiptMembersSchema, value, { abortEarly: true });
  if (!checked.success) {
    const [issue] = checked.issues;
    return malformedReceipt(v.getDotPath(issue) ?? "", issue.message);
  }
  // The original value, because valibot's output lacks members that the schema does not name.
  return { ok: true, receipt: value as ExecutionReceipt };
}

function malformedReceipt(path: string, message: string): ReceiptFault {
  return { ok: false, code: "receipt.malformed", path, message };
}
