import { hexToBytes, publicKeyToDidKey } from "@agent/crypto";
import { signingKeysOf } from "../agents/key-store.ts";
import type { Reader } from "../storage/storage.ts";

/** Every did:key that an agent signs or signed as: its own, former ones included, and its devices'. */
export async function didsOf(read: Reader, agentId: string): Promise<ReadonlySet<string>> {
  const keys = await signingKeysOf(read, agentId);
  return new Set(keys.map(({ public_key }) => didOfKey(public_key)));
}

/** The did:key of a key of 64 hex digits. */
export function didOfKey(publicKey: string): string {
  return publicKeyToDidKey(hexToBytes(publicKey));
}
