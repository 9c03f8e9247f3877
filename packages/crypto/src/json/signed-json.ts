import { sign, verify, verifyAsync } from "#ed25519";
import { canonicalize } from "./canonical-json.ts";
import { isJsonObject } from "./json-object.ts";
import { fromBase64Url, toBase64Url } from "../formats.ts";
import { unlessMalformed } from "../unless-malformed.ts";

/**
 * Returns the body with `signature`: base64url, over the canonical JSON of all other members. Throws like
 * `canonicalize`.
 */
export function signJson<Body extends object>(
  body: Body,
  secretKey: Uint8Array,
  maxDepth?: number,
): Omit<Body, "signature"> & { signature: string } {
  const { signature: _, ...members } = body as Body & { signature?: unknown };
  return { ...members, signature: toBase64Url(sign(canonicalize(members, maxDepth), secretKey)) };
}

/**
 * Returns whether `signature` signs all other members of a plain object; false for any other value
 * and for one nested deeper than `maxDepth`, 64 by default.
 */
export function verifyJson(value: unknown, publicKey: Uint8Array, maxDepth?: number): boolean {
  const parts = parseSignedJson(value, maxDepth);
  return parts !== undefined && verify(parts.signature, parts.message, publicKey);
}

/**
 * Verifies like `verifyJson`, but with several keys, which are tried in order until one verifies. The
 * message is built only once.
 */
export function verifyJsonByAny(value: unknown, publicKeys: readonly Uint8Array[]): boolean {
  const parts = parseSignedJson(value);
  if (parts === undefined) return false;
  return publicKeys.some((publicKey) => verify(parts.signature, parts.message, publicKey));
}

/** Verifies like `verifyJson`, with `verifyAsync` for the signature. */
export async function verifyJsonAsync(value: unknown, publicKey: Uint8Array): Promise<boolean> {
  const parts = parseSignedJson(value);
  return parts !== undefined && verifyAsync(parts.signature, parts.message, publicKey);
}

function parseSignedJson(
  value: unknown,
  maxDepth?: number,
): { signature: Uint8Array; message: string } | undefined {
  if (!isJsonObject(value)) return undefined;
  const { signature, ...members } = value;
  if (typeof signature !== "string" || signature.length !== 86) return undefined;
  return unlessMalformed(() => ({
    signature: fromBase64Url(signature),
    message: canonicalize(members, maxDepth),
  }));
}
