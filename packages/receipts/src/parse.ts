import * as v from "valibot";
import { parseJsonText, unlessMalformed } from "@agent/crypto";
import { RECEIPT_LIMITS } from "./limits.ts";
import { ParsedReceipt } from "./parsed-receipt.ts";
import type { StructureRefusal } from "./refusals.ts";
import { type ExecutionReceipt, ReceiptMembersSchema } from "./schema.ts";
import { countNested } from "./checks/count-nested.ts";

/** Why a value is no receipt: the member at fault and the rule it breaks, never what it holds. */
export interface ReceiptFault {
  readonly ok: false;
  readonly code: StructureRefusal;
  /** The member's name, with dots further in; empty when the fault is in no single member. */
  readonly path: string;
  readonly message: string;
}

/**
 * Checks the structure of a receipt, given as a value or as its JSON text; not its suite, not its
 * signature, not the inside of its nested receipts. `verifyReceipt` takes the answer as it is.
 *
 * Refuses with `receipt.malformed` or, above 256 nested receipts in all, `receipt.too_many_nested`.
 */
export function parseReceipt(value: unknown): ParsedReceipt | ReceiptFault {
  const parsed = typeof value === "string" ? parseJsonText(value) : { value };
  if (parsed === null)
    return malformedReceipt("", "must be JSON in which no object repeats a member");
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

/** Checks a receipt's own members; its nested receipts are only counted as objects. */
export function checkReceiptMembers(
  value: unknown,
): { readonly ok: true; readonly receipt: ExecutionReceipt } | ReceiptFault {
  const checked = v.safeParse(ReceiptMembersSchema, value, { abortEarly: true });
  if (!checked.success) {
    const [issue] = checked.issues;
    return malformedReceipt(v.getDotPath(issue) ?? "", issue.message);
  }
  // The value and not valibot's output, which lacks the members that the schema does not name.
  return { ok: true, receipt: value as ExecutionReceipt };
}

function malformedReceipt(path: string, message: string): ReceiptFault {
  return { ok: false, code: "receipt.malformed", path, message };
}
