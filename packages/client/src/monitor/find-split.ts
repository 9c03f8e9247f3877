import { compareHeads, proveConsistency, type ReadTile, type TreeHead } from "@agent/transparency";
import { BadTileError, type TileReaders } from "./log-reader.ts";
import type { SeenHead } from "./signed-heads.ts";

/**
 * Returns two heads that the log signed but that do not belong to one tree; null if there are none. A
 * verified consistency proof must show that each is a prefix of the largest: that the tiles lead to one
 * root proves nothing about the other, because a log can serve the hashes of two histories side by side.
 */
export async function findSplit(
  heads: readonly SeenHead[],
  tileReaders: TileReaders,
): Promise<readonly [SeenHead, SeenHead] | null> {
  const [largest] = heads.toSorted((left, right) => right.head.size - left.head.size);
  if (largest === undefined) return null;
  const readTile = tileReaders(largest.head.size);
  for (const seen of heads) {
    const proof = await buildProof(seen.head, largest.head, readTile);
    if (!compareHeads(seen.head, largest.head, proof).ok) return [seen, largest];
  }
  return null;
}

/** Without the tiles there is no proof, and a log that signed the size of its head must have its tiles. */
async function buildProof(
  old: TreeHead,
  head: TreeHead,
  readTile: ReadTile,
): Promise<readonly Uint8Array[]> {
  try {
    return await proveConsistency(old.size, head.size, readTile);
  } catch (error) {
    if (error instanceof BadTileError) return [];
    throw error;
  }
}
