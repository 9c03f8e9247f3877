import { getPublicKey } from "#ed25519";
import { equalBytes } from "../bytes.ts";
import { hexToBytes } from "../formats.ts";
import { unlessMalformed } from "../unless-malformed.ts";

/** The 32-byte secret key of a text, or the code of its refusal. */
export type SecretKeyResult =
  | { readonly ok: true; readonly secretKey: Uint8Array }
  | { readonly ok: false; readonly code: "key.malformed" | "key.halves_mismatch" };

/**
 * Parses the 32-byte secret key from 64 hex digits (the seed) or 128 (the seed and its public key),
 * in either case. Refuses any other text (`key.malformed`) and a second half that is not the public
 * key of the first (`key.halves_mismatch`).
 */
export function parseSecretKeyHex(hex: string): SecretKeyResult {
  const bytes = unlessMalformed(() => hexToBytes(hex.toLowerCase()));
  if (bytes?.length !== 32 && bytes?.length !== 64) return { ok: false, code: "key.malformed" };
  const secretKey = bytes.slice(0, 32);
  if (bytes.length === 64 && !equalBytes(bytes.subarray(32), getPublicKey(secretKey))) {
    return { ok: false, code: "key.halves_mismatch" };
  }
  return { ok: true, secretKey };
}
