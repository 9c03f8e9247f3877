import type { Reader, Tx } from "../../../storage/storage.ts";
import { findFeesKept, updatePlace } from "./place-store.ts";
import { toPlace } from "./place.ts";

/** Finds the place of an agent in discovery by the fees that its completed tasks left. */
export async function findPlace(read: Reader, agentId: string): Promise<string> {
  return toPlace(agentId, await findFeesKept(read, agentId));
}

/** Stores the place of an agent by its fees. */
export async function savePlace(tx: Tx, agent_id: string): Promise<void> {
  await updatePlace(tx, { agent_id, place: await findPlace(tx, agent_id) });
}

/**
 * Moves an agent to its new place after its fees changed by `added`; most changes do not change the place.
 */
export async function movePlace(tx: Tx, agentId: string, added: number): Promise<void> {
  const fees = await findFeesKept(tx, agentId);
  const place = toPlace(agentId, fees);
  if (place !== toPlace(agentId, fees - added)) await updatePlace(tx, { agent_id: agentId, place });
}
