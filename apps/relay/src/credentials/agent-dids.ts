import { hexToDidKey } from "@agent/crypto";
import { listHeldKeys } from "../agents/keys/list-held-keys.ts";
import { listSigningKeys } from "../agents/keys/key-store.ts";
import type { Reader } from "../storage/storage.ts";

/** Lists every did:key of an agent: current and former keys of its own, and those of its devices. */
export async function listAgentDids(read: Reader, agentId: string): Promise<ReadonlySet<string>> {
  const keys = await listSigningKeys(read, agentId);
  return new Set(keys.map(({ public_key }) => hexToDidKey(public_key)));
}

/** Lists the did:keys under which an agent may act as an issuer. */
export async function listIssuerDids(read: Reader, agentId: string): Promise<ReadonlySet<string>> {
  return new Set((await listHeldKeys(read, agentId)).map(hexToDidKey));
}
