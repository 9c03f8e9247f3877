import type { Reader } from "../../storage/storage.ts";
import { listEntriesAfter } from "./entry-store.ts";
import { getArtifactHash } from "./find-entries.ts";
import { findNewestHead } from "../store.ts";

const PAGE_ENTRIES = 1_000;

/** Lists the entries that no head covers yet, which are not in the index, by their artifact hash. */
export async function listUncoveredEntries(read: Reader): Promise<Map<string, Uint8Array[]>> {
  const byHash = new Map<string, Uint8Array[]>();
  let after = (await findNewestHead(read))?.size ?? 0;
  for (let isLast = false; !isLast;) {
    const entries = await listEntriesAfter(read, { after, limit: PAGE_ENTRIES });
    for (const entry of entries) {
      const hash = getArtifactHash(entry) ?? "";
      byHash.set(hash, [...(byHash.get(hash) ?? []), entry]);
    }
    after += entries.length;
    isLast = entries.length < PAGE_ENTRIES;
  }
  return byHash;
}
