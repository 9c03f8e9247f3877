import { concatBytes } from "@agent/crypto";
import { HASH_BYTES, hashLeaf, TILE_WIDTH } from "@agent/transparency";
import type { Reader } from "../../storage/storage.ts";
import { listEntriesAfter } from "../entries/entry-store.ts";
import { findTile, listTileRoots } from "../store.ts";

/**
 * Reads the first `width` hashes of a tile. A partial tile is cut from the full one if that exists,
 * otherwise built from the level below. The result is shorter if the log has fewer hashes.
 */
export async function readTile(
  read: Reader,
  level: number,
  index: number,
  width: number,
): Promise<Uint8Array> {
  const full = await findTile(read, { level, n: index });
  if (full !== undefined) return full.slice(0, width * HASH_BYTES);
  const from = index * TILE_WIDTH;
  if (level > 0) {
    return concatBytes(...(await listTileRoots(read, { level: level - 1, from, limit: width })));
  }
  const entries = await listEntriesAfter(read, { after: from, limit: width });
  return concatBytes(...entries.map(hashLeaf));
}
