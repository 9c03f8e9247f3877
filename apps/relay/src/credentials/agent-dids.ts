import { hexToBytes, publicKeyToDidKey } from "@agent/crypto";
import { listSigningKeys } from "../agents/keys/key-store.ts";
import type { Reader } from "../storage/storage.ts";

/** Every did:key that an agent signs or signed as: its own, former ones included, and its devices'. */
export async function listAgentDids(read: Reader, agentId: string): Promise<ReadonlySet<string>> {
  const keys = await listSigningKeys(read, agentId);
  return new Set(keys.map(({ public_key }) => publicKeyToDid(public_key)));
}

/** The did:key of a key of 64 hex digits. */
export function publicKeyToDid(publicKey: string): string {
  return publicKeyToDidKey(hexToBytes(publicKey));
}
