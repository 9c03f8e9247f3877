import { utf8ToBytes as encodeUtf8 } from "@noble/hashes/utils.js";

/** The UTF-8 bytes of a text; a lone surrogate becomes U+FFFD, as in every web encoder. */
export function utf8ToBytes(text: string): Uint8Array {
  return encodeUtf8(text);
}

/** All parts one after another in a new array. */
export function concatBytes(...parts: Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** Whether both hold the same bytes, in a time that depends on their length only. */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  let difference = 0;
  for (let i = 0; i < left.length; i++) difference |= left[i]! ^ right[i]!;
  return difference === 0;
}
