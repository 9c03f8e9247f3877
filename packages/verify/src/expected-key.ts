import { bytesToHex, didKeyToPublicKey, EncodingError } from "@agent/crypto";
import type { BoundKeys } from "@agent/receipts";

/** Whether a key is one of those that the caller named. */
export function isExpectedKey(key: string | null, expected: BoundKeys): boolean {
  return key !== null && (typeof expected === "string" ? key === expected : expected.includes(key));
}

/** The key that a did:key is, as 64 hex digits; null for anything else. */
export function parseDidKey(did: unknown): string | null {
  try {
    return typeof did === "string" ? bytesToHex(didKeyToPublicKey(did)) : null;
  } catch (error) {
    if (error instanceof EncodingError) return null;
    throw error;
  }
}
