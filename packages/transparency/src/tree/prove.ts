import { HASH_BYTES, hashNode, hashSubtree } from "./hash.ts";
import { TILE_WIDTH } from "./tile-path.ts";

/** Reads the first `width` hashes of a tile, 32 bytes each; a partial tile may be cut from a full one. */
export type ReadTile = (
  level: number,
  index: number,
  width: number,
) => Uint8Array | Promise<Uint8Array>;

/**
 * The leaves from `start` to `end` (excluded); `start` is a multiple of a power of two that is not below
 * their number.
 */
interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Builds the inclusion proof of the leaf at `index` in the tree of `size` leaves (RFC 6962, section 2.1.1),
 * from at most two tiles per level. Throws RangeError unless `index` is below `size`, and for a tile of the
 * wrong length.
 */
export function proveInclusion(
  index: number,
  size: number,
  readTile: ReadTile,
): Promise<Uint8Array[]> {
  if (!isIndexIn(index, size)) throw new RangeError("the index must be below the size");
  const siblings: Range[] = [];
  for (let start = 0, end = size; end - start > 1;) {
    const middle = start + getSplit(end - start);
    if (index < middle) {
      siblings.unshift({ start: middle, end });
      end = middle;
    } else {
      siblings.unshift({ start, end: middle });
      start = middle;
    }
  }
  return hashRanges(siblings, size, readTile);
}

/**
 * Builds the proof that the tree of `oldSize` leaves is a prefix of the tree of `size` leaves (RFC 6962,
 * section 2.1.2). It is empty from size 0 and between equal sizes. Throws RangeError unless `oldSize` is at
 * most `size`, and for a tile of the wrong length.
 */
export function proveConsistency(
  oldSize: number,
  size: number,
  readTile: ReadTile,
): Promise<Uint8Array[]> {
  if (!isIndexIn(oldSize, size) && !(oldSize === size && Number.isSafeInteger(size))) {
    throw new RangeError("the old size must be at most the size");
  }
  const ranges: Range[] = [];
  let isOldTree = true;
  for (let start = 0, end = size; oldSize > 0 && start < size;) {
    if (oldSize === end) {
      // The reader knows the root of the old tree itself.
      if (!isOldTree) ranges.unshift({ start, end });
      break;
    }
    const middle = start + getSplit(end - start);
    if (oldSize <= middle) {
      ranges.unshift({ start: middle, end });
      end = middle;
    } else {
      ranges.unshift({ start, end: middle });
      start = middle;
      isOldTree = false;
    }
  }
  return hashRanges(ranges, size, readTile);
}

/**
 * Computes the root of a tree of `size` leaves, at least one, from its tiles, so that a reader can compare
 * the tiles with a signed head.
 */
export async function computeRoot(size: number, readTile: ReadTile): Promise<Uint8Array> {
  if (!isIndexIn(0, size)) throw new RangeError("the size must be at least 1");
  const [root] = await hashRanges([{ start: 0, end: size }], size, readTile);
  return root!;
}

function isIndexIn(index: number, size: number): boolean {
  return Number.isSafeInteger(index) && Number.isSafeInteger(size) && index >= 0 && index < size;
}

/** Returns the greatest power of two below a number, where RFC 6962 splits a tree of that size. */
function getSplit(count: number): number {
  let split = 1;
  while (split * 2 < count) split *= 2;
  return split;
}

async function hashRanges(
  ranges: readonly Range[],
  size: number,
  readTile: ReadTile,
): Promise<Uint8Array[]> {
  const tiles = new Map<string, Uint8Array>();
  for (const { level, index } of ranges.flatMap((range) => listSubtrees(range).map(locate))) {
    const name = `${level}/${index}`;
    if (tiles.has(name)) continue;
    const hashesOfLevel = Math.floor(size / TILE_WIDTH ** level);
    const width = Math.min(TILE_WIDTH, hashesOfLevel - index * TILE_WIDTH);
    const hashes = await readTile(level, index, width);
    if (hashes.length !== width * HASH_BYTES)
      throw new RangeError(`tile ${name} has a wrong length`);
    tiles.set(name, hashes);
  }
  return ranges.map((range) =>
    listSubtrees(range)
      .map(locate)
      .map(({ level, index, first, count }) =>
        hashSubtree(tiles.get(`${level}/${index}`)!, first, count),
      )
      .reduceRight((right, left) => hashNode(left, right)),
  );
}

/** Splits a range into perfect subtrees, from left to right. */
function listSubtrees({ start, end }: Range): Range[] {
  const subtrees: Range[] = [];
  for (let left = start; left < end;) {
    let count = getSplit(end - left);
    if (count * 2 === end - left) count *= 2;
    subtrees.push({ start: left, end: left + count });
    left += count;
  }
  return subtrees;
}

/** Finds the hashes of a tile from which the root of a perfect subtree is computed. */
function locate({ start, end }: Range) {
  let level = 0;
  let count = end - start;
  let first = start;
  while (count >= TILE_WIDTH) {
    count /= TILE_WIDTH;
    first /= TILE_WIDTH;
    level++;
  }
  return { level, index: Math.floor(first / TILE_WIDTH), first: first % TILE_WIDTH, count };
}
