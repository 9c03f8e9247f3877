import { hash } from "node:crypto";
import type * as portable from "./sha256-portable.ts";

const HASH_BYTES = 32;

export function sha256(data: Uint8Array | string): Uint8Array {
  // A string with one character per byte costs a fifth of a buffer, whose memory is outside the heap.
  const text = hash("sha256", data, "binary");
  const bytes = new Uint8Array(HASH_BYTES);
  for (let at = 0; at < HASH_BYTES; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

export function sha256Hex(data: Uint8Array | string): string {
  return hash("sha256", data, "hex");
}

({ sha256, sha256Hex }) satisfies typeof portable;
