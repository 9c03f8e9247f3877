import { RECEIPT_LIMITS } from "../limits.ts";

/**
 * Counts the receipts nested under `value` at every depth and stops at the first over the limit.
 */
export function countNested(value: unknown): number {
  // A list instead of recursion, and one limit for all depths, so that neither a deep nor a wide
  // tree is expensive.
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
