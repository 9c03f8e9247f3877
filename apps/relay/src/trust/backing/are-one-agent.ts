import type { Reader } from "../../storage/storage.ts";
import { findGroup, listGroupMembers } from "./key-sharer-store.ts";

/** Returns whether two agents count as one, because they have proven the same key. */
export async function areOneAgent(read: Reader, one: string, other: string): Promise<boolean> {
  if (one === other) return true;
  const group = await findGroup(read, one);
  return group !== undefined && group === (await findGroup(read, other));
}

/** Lists all agents that count as one with an agent, itself included. */
export async function listAgentsCountedAsOne(read: Reader, agentId: string): Promise<string[]> {
  return [...new Set([agentId, ...(await listGroupMembers(read, agentId))])];
}
