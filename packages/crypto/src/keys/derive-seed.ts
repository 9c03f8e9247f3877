import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "../bytes.ts";
import { assertSecretKey } from "../ed25519/ed25519-rules.ts";

/**
 * Derives another 32-byte seed from a secret key by HKDF-SHA256 (RFC 5869) without a salt. Each
 * purpose has its own `info`, so that no signature for one purpose counts for another. Throws
 * RangeError unless the secret key has 32 bytes.
 */
export function deriveSeed(secretKey: Uint8Array, info: string): Uint8Array {
  return hkdf(sha256, assertSecretKey(secretKey), undefined, utf8ToBytes(info), 32);
}
