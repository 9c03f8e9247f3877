import { countTiles, TreeEdge } from "@agent/transparency";
import type { Reader } from "../../storage/storage.ts";
import { readTile } from "./read-tile.ts";

/** Loads the right edge of the tree of a signed head. */
export async function loadEdge(read: Reader, size: number): Promise<TreeEdge> {
  const tiles = await Promise.all(
    countTiles(size).map(async ({ level, full, partial }) =>
      partial === 0 ? new Uint8Array() : readTile(read, level, full, partial),
    ),
  );
  return new TreeEdge({ size, tiles });
}
