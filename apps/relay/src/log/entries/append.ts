import { ENTRY_BYTES, entryOf } from "@agent/transparency";
import type { Tx } from "../../storage/storage.ts";
import { insertEntry, isLogOn } from "./entry-store.ts";

/** Asked once a transaction, because many make two entries. */
const answers = new WeakMap<Tx, boolean>();

/**
 * Appends an entry to the relay's transparency log, in the transaction that makes it true. While the log
 * is off nothing is appended, and the entry is not even built.
 */
export async function appendLog(
  tx: Tx,
  build: () => Uint8Array | Promise<Uint8Array>,
): Promise<void> {
  const isOn = answers.get(tx) ?? (await isLogOn(tx));
  answers.set(tx, isOn);
  if (isOn) await insertEntry(tx, tx.isDryRun === true ? BLANK : await build());
}

/** Placeholder for an entry that is not kept, because building one takes several hashes. */
const BLANK = new Uint8Array(ENTRY_BYTES);

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
  return appendLog(tx, () => entryOf.keyBound(binding, { time }));
}

/** Appends that a key no longer signs for an agent. */
export function appendKeyEnded(
  tx: Tx,
  binding: BoundKey & { readonly valid_until: number },
  time: number,
): Promise<void> {
  return appendLog(tx, () => entryOf.keyEnded(binding, { time }));
}
