import { listAgentKeys } from "../agents/keys/key-store.ts";
import type { Reader } from "../storage/storage.ts";
import { findOutbound } from "./outbound/outbound-store.ts";

/**
 * Whether the agent of another relay that a task was forwarded to is another one than the agent that is
 * bound to its id here. Its work is paid to the peer as it was ordered, and says nothing of the agent here.
 */
export async function isExecutedByNamesake(read: Reader, taskId: string): Promise<boolean> {
  const outbound = await findOutbound(read, taskId);
  if (outbound === undefined) return false;
  const { agentId, publicKey } = outbound.task;
  const keys = await listAgentKeys(read, agentId);
  return keys.length > 0 && keys.every(({ public_key }) => public_key !== publicKey);
}
