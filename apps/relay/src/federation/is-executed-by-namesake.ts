import { listAgentKeys } from "../agents/keys/key-store.ts";
import type { Reader } from "../storage/storage.ts";
import { findOutbound } from "./outbound/outbound-store.ts";

/**
 * Returns whether a forwarded task is executed by a different agent with the same id as a local one. Its
 * work is paid to the peer as agreed, and does not count for the local agent.
 */
export async function isExecutedByNamesake(read: Reader, taskId: string): Promise<boolean> {
  const outbound = await findOutbound(read, taskId);
  if (outbound === undefined) return false;
  const { agentId, publicKey } = outbound.task;
  const keys = await listAgentKeys(read, agentId);
  return keys.length > 0 && keys.every(({ public_key }) => public_key !== publicKey);
}
