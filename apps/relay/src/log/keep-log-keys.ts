import type { Tx } from "../storage/storage.ts";
import { beginGeneration } from "./generation.ts";
import { findLogState, keepRootKey } from "./store.ts";

/**
 * Keeps the log's keys before the relay gets another key. A stolen key can sign heads, so after a theft
 * the new key becomes the root of a new generation.
 */
export async function keepLogKeys(
  tx: Tx,
  { oldKey, isStolen, now }: { oldKey: string; isStolen: boolean; now: number },
): Promise<void> {
  if (!isStolen) return keepRootKey(tx, oldKey);
  const state = await findLogState(tx);
  if (state === undefined) return;
  const { incarnation } = state;
  await beginGeneration(tx, { ...state, root_key: null }, { incarnation, now });
}
