import { RECEIPT_LIMITS } from "../limits.ts";

/** The receipts nested under `value` at every depth; counting stops at the first over the limit. */
export function countNested(value: unknown): number {
  // A list instead of recursion, and one bound for all: neither a deep nor a wide tree costs much.
  const pending = [...listNested(value)];
  let count = 0;
  while (pending.length > 0 && count <= RECEIPT_LIMITS.maxNested) {
    count += 1;
    pending.push(...listNested(pending.pop()));
  }
  return count;
}

function listNested(value: unknown): readonly unknown[] {
  if (typeof value !== "object" || value === null || !("delegation_receipts" in value)) return [];
  const nested = value.delegation_receipts;
  return Array.isArray(nested) ? nested.slice(0, RECEIPT_LIMITS.maxNested + 1) : [];
}
