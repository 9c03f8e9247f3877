import * as v from "valibot";
import { canonicalize, CanonicalJsonError, parseJsonText } from "@agent/crypto";
import { RECEIPT_LIMITS } from "./limits.ts";
import type { StructureRefusal } from "./refusals.ts";
import { type ExecutionReceipt, ReceiptMembersSchema } from "./schema.ts";
import { nestedCount } from "./tree-size.ts";

/** Why a value is no receipt: the member at fault and the rule it breaks, never what it holds. */
export interface ReceiptFault {
  readonly ok: false;
  readonly code: StructureRefusal;
  /** The member's name, with dots further in; empty when the fault is in no single member. */
  readonly path: string;
  readonly message: string;
}

interface ReadReceipt {
  readonly ok: true;
  readonly receipt: ExecutionReceipt;
  /** The canonical JSON of all members but `signature`. */
  readonly signedText: string;
}

/**
 * Checks the structure of a receipt, given as a value or as its JSON text; not its suite, not its
 * signature, not the inside of its nested receipts. The receipt in the answer is the value itself,
 * unknown members included.
 *
 * Refuses with `receipt.malformed` or, above 256 nested receipts in all, `receipt.too_many_nested`.
 */
export function parseReceipt(
  value: unknown,
): { readonly ok: true; readonly receipt: ExecutionReceipt } | ReceiptFault {
  const read = readReceipt(value);
  return read.ok ? { ok: true, receipt: read.receipt } : read;
}

/** As `parseReceipt`, keeping the canonical text for the signature check. */
export function readReceipt(input: unknown): ReadReceipt | ReceiptFault {
  const parsed = typeof input === "string" ? parseJsonText(input) : { value: input };
  if (parsed === null) return malformed("", "must be JSON in which no object repeats a member");
  const shape = checkMembers(parsed.value);
  if (!shape.ok) return shape;
  if (nestedCount(shape.receipt) > RECEIPT_LIMITS.maxNested) {
    return {
      ok: false,
      code: "receipt.too_many_nested",
      path: "delegation_receipts",
      message: `must hold at most ${RECEIPT_LIMITS.maxNested} nested receipts in all`,
    };
  }
  const signedText = signedTextOf(shape.receipt);
  return signedText === null
    ? malformed("", "must be plain JSON data of at most 64 levels, without lone surrogates")
    : { ok: true, receipt: shape.receipt, signedText };
}

/** Checks a receipt's own members; its nested receipts are only counted as objects. */
export function checkMembers(
  value: unknown,
): { readonly ok: true; readonly receipt: ExecutionReceipt } | ReceiptFault {
  const checked = v.safeParse(ReceiptMembersSchema, value, { abortEarly: true });
  if (!checked.success) {
    const [issue] = checked.issues;
    return malformed(v.getDotPath(issue) ?? "", issue.message);
  }
  // The value and not valibot's output, which lacks the members that the schema does not name.
  return { ok: true, receipt: value as ExecutionReceipt };
}

function signedTextOf(receipt: ExecutionReceipt): string | null {
  try {
    // A member that is undefined is left out, and this copy is cheaper than one without the member.
    return canonicalize({ ...receipt, signature: undefined });
  } catch (error) {
    if (error instanceof CanonicalJsonError) return null;
    throw error;
  }
}

function malformed(path: string, message: string): ReceiptFault {
  return { ok: false, code: "receipt.malformed", path, message };
}
