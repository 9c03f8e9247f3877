import { canonicalize, unlessMalformed } from "@agent/crypto";
import { flattenChain, RECEIPT_LIMITS, type ExecutionReceipt } from "@agent/receipts";

/**
 * Returns the receipts of subcontractors that the agent's own receipt can nest in at most `maxBytes`. A
 * valid receipt may be too deep, too large or nest too many others for this, and must not cost the agent
 * its pay. Receipts with the fewest nested ones and then the smallest come first, so that one subcontractor
 * cannot displace the others.
 */
export function selectNestedReceipts(
  receipts: readonly ExecutionReceipt[],
  maxBytes: number,
): readonly ExecutionReceipt[] {
  const candidates = receipts
    .map((receipt, index) => ({
      receipt,
      index,
      count: 1 + flattenChain(receipt).count,
      bytes: Buffer.byteLength(JSON.stringify(receipt)) + SEPARATOR_BYTES,
    }))
    .toSorted((a, b) => a.count - b.count || a.bytes - b.bytes);
  const selected = new Set<number>();
  let countLeft: number = RECEIPT_LIMITS.maxNested;
  let bytesLeft = maxBytes + SEPARATOR_BYTES;
  for (const { receipt, index, count, bytes } of candidates) {
    if (count > countLeft || bytes > bytesLeft || !canNest(receipt)) continue;
    selected.add(index);
    countLeft -= count;
    bytesLeft -= bytes;
  }
  return receipts.filter((_, index) => selected.has(index));
}

const SEPARATOR_BYTES = ",".length;

/**
 * Returns whether a receipt is not too deep: two levels are the own receipt's, and four are for what holds
 * that one, such as a message, a bundle of evidence or the receipt of the next agent above.
 */
function canNest(receipt: ExecutionReceipt): boolean {
  return unlessMalformed(() => canonicalize([[[[[[receipt]]]]]])) !== undefined;
}
