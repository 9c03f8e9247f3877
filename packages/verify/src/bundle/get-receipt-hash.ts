import { hashReceipt } from "@agent/receipts";
import type { EvidenceBundle } from "./schema.ts";

/**
 * Returns the hash of a bundle's receipt as it was signed, even if its texts have been erased
 * since.
 */
export function getReceiptHash({
  receipt,
  erased,
}: Pick<EvidenceBundle, "receipt" | "erased">): string {
  return erased?.receipt_hash ?? hashReceipt(receipt);
}
