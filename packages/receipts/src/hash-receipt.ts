import { canonicalize, sha256Hex } from "@agent/crypto";
import type { ExecutionReceipt } from "./schema.ts";

/**
 * Returns the SHA-256, in lower-case hex, of a receipt's canonical JSON with its signature, by which
 * other records refer to this receipt. Throws CanonicalJsonError on a value that has no canonical
 * JSON.
 */
export function hashReceipt(receipt: ExecutionReceipt): string {
  return sha256Hex(canonicalize(receipt));
}
