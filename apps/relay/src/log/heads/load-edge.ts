import { equalBytes } from "@agent/crypto";
import { countTiles, parseCheckpoint, TreeEdge } from "@agent/transparency";
import type { Reader } from "../../storage/storage.ts";
import type { LogHeadRow } from "../../storage/tables/log.ts";
import { readTile } from "./read-tile.ts";

/**
 * Loads the right edge of the tree of a signed head, without one that of the empty tree. Undefined if what is stored
 * has another root, because a head over it would contradict those that were served.
 */
export async function loadEdge(
  read: Reader,
  head: Pick<LogHeadRow, "size" | "note"> | undefined,
): Promise<TreeEdge | undefined> {
  if (head === undefined) return new TreeEdge();
  const { size, note } = head;
  const tiles = await Promise.all(
    countTiles(size).map(async ({ level, full, partial }) =>
      partial === 0 ? new Uint8Array() : readTile(read, level, full, partial),
    ),
  );
  const edge = new TreeEdge({ size, tiles });
  const signed = parseCheckpoint(note);
  return signed.ok && equalBytes(signed.head.root, edge.root()) ? edge : undefined;
}
