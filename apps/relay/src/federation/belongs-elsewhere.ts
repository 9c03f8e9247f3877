import type { Reader } from "../storage/storage.ts";
import { provenKey } from "./agent-key-store.ts";

/**
 * Whether an id is that of another relay's agent that has worked for this one under another key: who
 * takes it here would take its standing with it.
 */
export async function belongsElsewhere(
  read: Reader,
  agentId: string,
  publicKey: string,
): Promise<boolean> {
  const proven = await provenKey(read, agentId);
  return proven !== undefined && proven !== publicKey;
}
