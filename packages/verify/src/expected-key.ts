import { bytesToHex, didKeyToPublicKey, unlessMalformed } from "@agent/crypto";
import type { BoundKeys } from "@agent/receipts";

/** Returns whether a key is one of those that the caller named. */
export function isExpectedKey(key: string | null, expected: BoundKeys): boolean {
  return key !== null && (typeof expected === "string" ? key === expected : expected.includes(key));
}

/** Returns the key of a did:key as 64 hex digits; null for anything else. */
export function parseDidKey(did: unknown): string | null {
  if (typeof did !== "string") return null;
  return unlessMalformed(() => bytesToHex(didKeyToPublicKey(did))) ?? null;
}
