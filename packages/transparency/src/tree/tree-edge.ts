import { getEmptyRoot, HASH_BYTES, hashNode, hashSubtree } from "./hash.ts";
import { countTiles, TILE_WIDTH } from "./tile-path.ts";

/** A tile of 256 hashes, which never changes again. */
export interface FullTile {
  readonly level: number;
  readonly index: number;
  /** 256 hashes of 32 bytes. */
  readonly hashes: Uint8Array;
  /** The root of these hashes, which is the hash of this index one level up. */
  readonly root: Uint8Array;
}

interface Level {
  /** The number of full tiles to the left. */
  full: number;
  width: number;
  readonly hashes: Uint8Array;
}

/** A tree to begin with: the hashes of its partial tile at each level, from the leaves up. */
export interface PartialTiles {
  readonly size: number;
  readonly tiles: readonly Uint8Array[];
}

/**
 * The right edge of a tree that grows: at most 255 hashes a level, from which the root of all
 * leaves follows (RFC 6962, section 2.1).
 */
export class TreeEdge {
  readonly #levels: Level[];
  #size: number;

  /** Begins empty, or with the partial tiles of a tree; throws RangeError if their widths differ. */
  constructor({ size, tiles }: PartialTiles = { size: 0, tiles: [] }) {
    this.#size = size;
    this.#levels = countTiles(size).map(({ level, full, partial }) => {
      const hashes = tiles[level] ?? new Uint8Array();
      if (hashes.length !== partial * HASH_BYTES) {
        throw new RangeError(`the partial tile of level ${level} must have ${partial} hashes`);
      }
      const space = new Uint8Array(TILE_WIDTH * HASH_BYTES);
      space.set(hashes);
      return { full, width: partial, hashes: space };
    });
  }

  /** The number of leaves. */
  get size(): number {
    return this.#size;
  }

  /** Adds the hash of a leaf and returns the tiles that are full with it, from the leaves up. */
  append(leaf: Uint8Array): FullTile[] {
    const filled: FullTile[] = [];
    this.#size++;
    let hash = leaf;
    for (let number = 0; ; number++) {
      const level = (this.#levels[number] ??= createLevel());
      level.hashes.set(hash, level.width * HASH_BYTES);
      level.width++;
      if (level.width < TILE_WIDTH) return filled;
      hash = hashSubtree(level.hashes, 0, TILE_WIDTH);
      filled.push({ level: number, index: level.full, hashes: level.hashes.slice(), root: hash });
      level.full++;
      level.width = 0;
    }
  }

  /** Returns a copy of the hashes of the partial tile at a level; without any, it is empty. */
  getPartialTile(level: number): Uint8Array {
    const { hashes, width } = this.#levels[level] ?? createLevel();
    return hashes.slice(0, width * HASH_BYTES);
  }

  /** Computes the root of all leaves. */
  root(): Uint8Array {
    let root: Uint8Array | undefined;
    for (const { hashes, width } of this.#levels) {
      // Each bit of the width is a perfect subtree; the smallest one is the furthest to the right.
      for (let count = 1, end = width; count <= width; count *= 2) {
        if (Math.floor(width / count) % 2 === 0) continue;
        end -= count;
        const left = hashSubtree(hashes, end, count);
        root = root === undefined ? left : hashNode(left, root);
      }
    }
    return root ?? getEmptyRoot();
  }
}

const createLevel = (): Level => ({
  full: 0,
  width: 0,
  hashes: new Uint8Array(TILE_WIDTH * HASH_BYTES),
});
