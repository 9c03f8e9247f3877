import { canonicalize, sha256Hex } from "@agent/crypto";
import type { ExecutionReceipt } from "./schema.ts";

/**
 * The SHA-256, in lowercase hex, of a receipt's canonical JSON with its signature: the name of this
 * receipt wherever another record points to it. Throws on a value that has no canonical JSON.
 */
export function hashReceipt(receipt: ExecutionReceipt): string {
  return sha256Hex(canonicalize(receipt));
}
