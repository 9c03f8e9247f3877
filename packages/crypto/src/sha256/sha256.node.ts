import { hash } from "node:crypto";
import type * as portable from "./sha256-portable.ts";

export function sha256(data: Uint8Array | string): Uint8Array {
  return new Uint8Array(hash("sha256", data, "buffer"));
}

export function sha256Hex(data: Uint8Array | string): string {
  return hash("sha256", data, "hex");
}

({ sha256, sha256Hex }) satisfies typeof portable;
