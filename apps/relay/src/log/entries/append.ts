import { entryOf } from "@agent/transparency";
import type { Tx } from "../../storage/storage.ts";
import { insertEntry } from "./entry-store.ts";

/**
 * Appends an entry to the relay's transparency log, in the transaction that makes it true. Nothing is
 * appended while the log is off.
 */
export async function appendLog(tx: Tx, entry: Uint8Array): Promise<void> {
  await insertEntry(tx, entry);
}

/** A key of an agent, its own or a device's. */
interface BoundKey {
  readonly agent_id: string;
  readonly public_key: string;
  /** Null for the agent's own key. */
  readonly device_id: string | null;
}

/** Appends that a key may sign for an agent. */
export function appendKeyBound(
  tx: Tx,
  binding: BoundKey & { readonly valid_from: number },
  time: number,
): Promise<void> {
  return appendLog(tx, entryOf.keyBound(binding, { time }));
}

/** Appends that a key no longer signs for an agent. */
export function appendKeyEnded(
  tx: Tx,
  binding: BoundKey & { readonly valid_until: number },
  time: number,
): Promise<void> {
  return appendLog(tx, entryOf.keyEnded(binding, { time }));
}
