import {
  computeRoot,
  formatTilePath,
  parseEntryBundle,
  type ReadTile,
  TILE_WIDTH,
} from "@agent/transparency";
import { boundedBody } from "../calls/bounded-body.ts";
import type { Environment } from "../environment.ts";

/** The log cannot be read now; a later round may succeed. */
export class UnreachableError extends Error {
  override name = "UnreachableError";
}

/** The log answered, but it lacks something that its own head requires. */
export class BadTileError extends Error {
  override name = "BadTileError";
}

/** The entries of a tile of level 0. */
export interface EntryBundle {
  /** The index of the tile. */
  readonly index: number;
  readonly entries: readonly Uint8Array[];
}

const TIMEOUT_MS = 10_000;
const MAX_NOTE_BYTES = 65_536;
const HASH_BYTES = 32;
const BUNDLE_ENTRY_BYTES = 92;

/** Returns the reader of the tree of `size` leaves. */
export type TileReaders = (size: number) => ReadTile;

/** Reads the paths of a log or of a witness under its prefix, with limits of time and size. */
export function createLogReader(prefix: string, network: Pick<Environment, "fetch">) {
  /** Returns the bytes of a path; null if it does not exist. */
  async function read(path: string, maxBytes: number): Promise<Uint8Array | null> {
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const response = await network.fetch(`${prefix}/${path}`, { redirect: "error", signal });
      if (response.status === 404) return null;
      if (!response.ok || response.body === null) {
        throw new UnreachableError(`status ${response.status}`);
      }
      const tooLong = () => new BadTileError("the answer is too long");
      const body = boundedBody(response.body, { maxBytes, tooLong });
      // Some servers replace the global Response with one that lacks `bytes`.
      return new Uint8Array(await new Response(body).arrayBuffer());
    } catch (error) {
      if (error instanceof UnreachableError || error instanceof BadTileError) throw error;
      throw new UnreachableError("no answer", { cause: error });
    }
  }

  async function readExactly(path: string, bytes: number): Promise<Uint8Array> {
    const found = await read(path, bytes);
    if (found?.length !== bytes) throw new BadTileError("a tile has another length");
    return found;
  }

  return {
    readNote: (path: string) => read(path, MAX_NOTE_BYTES),

    /**
     * Returns readers of the log's trees by their number of leaves. Together they read each tile only once,
     * and cut it to the requested width.
     */
    createTileReaders(): TileReaders {
      const tiles = new Map<string, Promise<Uint8Array>>();
      return (size) => async (level, index, width) => {
        const hashes = Math.floor(size / TILE_WIDTH ** level) - index * TILE_WIDTH;
        const whole = Math.min(TILE_WIDTH, hashes);
        const path = formatTilePath(level, index, whole);
        const tile = tiles.get(path) ?? readExactly(path, whole * HASH_BYTES);
        tiles.set(path, tile);
        return (await tile).slice(0, width * HASH_BYTES);
      };
    },

    /** Reads the whole bundles of a tree of `size` leaves that contain the entries of a range. */
    async *readBundles(
      { start, end }: { readonly start: number; readonly end: number },
      size: number,
    ): AsyncIterable<EntryBundle> {
      if (start >= end) return;
      for (let index = Math.floor(start / TILE_WIDTH); index * TILE_WIDTH < end; index++) {
        const width = Math.min(TILE_WIDTH, size - index * TILE_WIDTH);
        const path = formatTilePath("entries", index, width);
        const parsed = parseEntryBundle(await readExactly(path, width * BUNDLE_ENTRY_BYTES), width);
        if (!parsed.ok) throw new BadTileError("an entry bundle is malformed");
        yield { index, entries: parsed.entries };
      }
    },
  };
}

export type LogReader = ReturnType<typeof createLogReader>;

/** Computes the root of the first `count` leaves, the empty one included. */
export async function computeRootOf(
  count: number,
  readTile: ReadTile,
  emptyRoot: Uint8Array,
): Promise<Uint8Array> {
  return count === 0 ? emptyRoot : computeRoot(count, readTile);
}
