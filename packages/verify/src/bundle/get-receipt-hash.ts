import { hashReceipt } from "@agent/receipts";
import type { EvidenceBundle } from "./schema.ts";

/** The hash of a bundle's receipt as it was signed, also when its texts were erased since then. */
export function getReceiptHash({
  receipt,
  erased,
}: Pick<EvidenceBundle, "receipt" | "erased">): string {
  return erased?.receipt_hash ?? hashReceipt(receipt);
}
