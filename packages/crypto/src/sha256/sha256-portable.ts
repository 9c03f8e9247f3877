import { sha256 as digest } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "../bytes.ts";
import { bytesToHex } from "../formats.ts";

/** Returns the 32-byte SHA-256 of bytes, or of the UTF-8 of a text. */
export function sha256(data: Uint8Array | string): Uint8Array {
  return digest(typeof data === "string" ? utf8ToBytes(data) : data);
}

/** Returns the SHA-256 of bytes, or of the UTF-8 of a text, as 64 lower-case hex digits. */
export function sha256Hex(data: Uint8Array | string): string {
  return bytesToHex(sha256(data));
}
