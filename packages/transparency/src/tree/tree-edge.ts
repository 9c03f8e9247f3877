import { getEmptyRoot, HASH_BYTES, hashNode, hashSubtree } from "./hash.ts";
import { countTiles, TILE_HEIGHT, TILE_WIDTH } from "./tile-path.ts";

/** A tile of 256 hashes, which never changes again. */
export interface FullTile {
  readonly level: number;
  readonly index: number;
  /** 256 hashes of 32 bytes. */
  readonly hashes: Uint8Array;
  /** The root of these hashes, which is the hash of this index one level up. */
  readonly root: Uint8Array;
}

/** The state of a tree: the hashes of its partial tile at each level, from the leaves up. */
export interface PartialTiles {
  readonly size: number;
  readonly tiles: readonly Uint8Array[];
}

/**
 * The right edge of a growing tree: the partial tile of each level and the roots of the perfect subtrees,
 * from which the root of all leaves follows (RFC 6962, section 2.1).
 */
export class TreeEdge {
  /** Space for the tile of each level, from the leaves up. */
  readonly #tiles: Uint8Array[];
  /** The roots of the largest perfect subtrees, from the left: one for each 1 of the size in binary. */
  readonly #subtrees: Uint8Array[] = [];
  #size: number;

  /**
   * Starts with an empty tree, or with the partial tiles of one; throws RangeError if their widths do not
   * match the size.
   */
  constructor({ size, tiles }: PartialTiles = { size: 0, tiles: [] }) {
    this.#size = size;
    const counts = countTiles(size);
    this.#tiles = counts.map(({ level, partial }) => {
      const hashes = tiles[level] ?? new Uint8Array();
      if (hashes.length !== partial * HASH_BYTES) {
        throw new RangeError(`the partial tile of level ${level} must have ${partial} hashes`);
      }
      const tile = createTile();
      tile.set(hashes);
      return tile;
    });
    for (const { level, partial } of counts.toReversed()) {
      for (let first = 0, count = TILE_WIDTH; count >= 1; count /= 2) {
        if ((partial & count) === 0) continue;
        this.#subtrees.push(hashSubtree(this.#tiles[level]!, first, count));
        first += count;
      }
    }
  }

  /** The number of leaves. */
  get size(): number {
    return this.#size;
  }

  /** Appends the hash of a leaf and returns the tiles that it fills, from the leaves up. */
  append(leaf: Uint8Array): FullTile[] {
    const filled: FullTile[] = [];
    this.#put(0, this.#size, leaf);
    this.#size++;
    let hash: Uint8Array = leaf.slice();
    // Each trailing 0 of the size in binary joins two subtrees of equal size.
    for (let height = 1, count = this.#size; count % 2 === 0; height++) {
      count /= 2;
      hash = hashNode(this.#subtrees.pop()!, hash);
      if (height % TILE_HEIGHT !== 0) continue;
      const level = height / TILE_HEIGHT;
      const hashes = this.#tiles[level - 1]!.slice();
      filled.push({ level: level - 1, index: count - 1, hashes, root: hash.slice() });
      this.#put(level, count - 1, hash);
    }
    this.#subtrees.push(hash);
    return filled;
  }

  /** Returns a copy of the hashes in the partial tile of a level; empty if there are none. */
  getPartialTile(level: number): Uint8Array {
    const width = Math.floor(this.#size / TILE_WIDTH ** level) % TILE_WIDTH;
    return this.#tiles[level]?.slice(0, width * HASH_BYTES) ?? new Uint8Array();
  }

  /** Computes the root of all leaves. */
  root(): Uint8Array {
    if (this.#size === 0) return getEmptyRoot();
    return this.#subtrees.reduceRight((right, left) => hashNode(left, right)).slice();
  }

  #put(level: number, index: number, hash: Uint8Array): void {
    const tile = (this.#tiles[level] ??= createTile());
    tile.set(hash, (index % TILE_WIDTH) * HASH_BYTES);
  }
}

const createTile = () => new Uint8Array(TILE_WIDTH * HASH_BYTES);
