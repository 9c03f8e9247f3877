import { buildLogEntry } from "@agent/transparency";
import { appendLog } from "../../src/log/entries/append.ts";
import { countEntries } from "../../src/log/entries/entry-store.ts";
import {
  insertSegment,
  insertSegmentRows,
  listSegments,
} from "../../src/log/segments/segment-store.ts";
import { saveLogState } from "../../src/log/store.ts";
import type { Storage, Tx } from "../../src/storage/storage.ts";

/** Begins an enabled log. */
export const beginLog = (tx: Tx, generation = 0) =>
  saveLogState(tx, {
    one: 1,
    origin: "log.example",
    generation,
    incarnation: 0,
    is_on: 1,
    began_at: 0,
    keys_entered: 1,
    published: 0,
    root_key: null,
  });

/** Returns a hash whose first 6 bytes are the given number. */
export const hashOf = (prefix: number, rest = 0) =>
  prefix.toString(16).padStart(12, "0") + rest.toString(16).padStart(52, "0");

/** Appends entries with these hashes and returns the previous number of entries. */
export async function appendHashes(tx: Tx, hashes: readonly string[]): Promise<number> {
  const before = await countEntries(tx);
  for (const artifactHash of hashes) {
    await appendLog(tx, () => buildLogEntry({ kind: "receipt", time: 1, artifactHash }));
  }
  return before;
}

/** Appends entries as a separate segment, however few they are. */
export const appendSegment = (storage: Storage, hashes: readonly string[]) =>
  storage.transaction(async (tx) => {
    const after = await appendHashes(tx, hashes);
    const added = { level: 0, first: after, state: "live" } as const;
    const segment = await insertSegment(tx, await listSegments(tx), added);
    await insertSegmentRows(tx, { segment, after, size: after + hashes.length });
  });
