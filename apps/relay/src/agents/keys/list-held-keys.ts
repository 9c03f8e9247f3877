import type { Reader } from "../../storage/storage.ts";
import { listProvenKeys } from "./key-proof-store.ts";
import { listSigningKeys } from "./key-store.ts";

/**
 * Lists the keys of an agent and its devices whose secret keys it has proven to hold, former ones of its own
 * included. A bootstrap and a pairing may name any public key without proof.
 */
export async function listHeldKeys(read: Reader, agent_id: string): Promise<string[]> {
  const keys = await listSigningKeys(read, agent_id);
  const own = keys.filter(({ device_id }) => device_id === null);
  // Both keys sign a succession record, so it also proves the key that the agent had before.
  const succeeded = own.length > 1 ? own : [];
  const proven = await listProvenKeys(read, { agent_id, keys });
  return [...succeeded, ...proven].map(({ public_key }) => public_key);
}
