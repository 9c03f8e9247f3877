import { utf8ToBytes as encodeUtf8 } from "@noble/hashes/utils.js";
import { bytesToHex, EncodingError } from "./formats.ts";

/** Encodes a text as UTF-8; a lone surrogate becomes U+FFFD, as in every web encoder. */
export function utf8ToBytes(text: string): Uint8Array {
  return encodeUtf8(text);
}

/**
 * Decodes UTF-8. Throws EncodingError on bytes that are not UTF-8, so that no two byte strings
 * decode to the same text; a byte order mark is kept as U+FEFF.
 */
export function bytesToUtf8(bytes: Uint8Array): string {
  try {
    // The only strict UTF-8 decoder that every JavaScript engine has and that needs no platform types.
    return decodeURIComponent(bytesToHex(bytes).replace(/../g, "%$&"));
  } catch {
    throw new EncodingError("not UTF-8");
  }
}

/** Concatenates the parts in a new array. */
export function concatBytes(...parts: Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** Returns whether both arrays hold the same bytes, in time that depends only on their lengths. */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  let difference = 0;
  for (let i = 0; i < left.length; i++) difference |= left[i]! ^ right[i]!;
  return difference === 0;
}
