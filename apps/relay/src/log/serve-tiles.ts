import { gzipSync } from "node:zlib";
import { formatEntryBundle, parseTilePath, TILE_WIDTH, type TilePath } from "@agent/transparency";
import { refuse, type Answer, type Operations } from "@agent/wire";
import { acceptsGzip, NO_STORE } from "../http/caching.ts";
import type { Services } from "../services.ts";
import type { Reader } from "../storage/storage.ts";
import { listEntriesAfter } from "./entries/entry-store.ts";
import { readTile } from "./heads/read-tile.ts";
import { findNewestHead } from "./store.ts";

/**
 * A tile never changes within a generation of the log, but the next generation has other tiles at the same
 * addresses, and its readers would refuse tiles from a cache that kept them longer.
 */
const CACHE_FOR_AN_HOUR = "max-age=3600";

/** Serves a tile of any head up to the newest one, or a bundle of its entries. */
export async function serveTile(
  { storage: { read } }: Pick<Services, "storage">,
  path: string,
  acceptEncoding: string | null,
): Promise<Answer<Operations["getLogTile"]>> {
  const parsed = parseTilePath(path);
  const size = (await findNewestHead(read))?.size ?? 0;
  if (!parsed.ok || !isCovered(parsed, size)) {
    // The tile may exist later.
    return { ...refuse("log.tile_not_found"), headers: NO_STORE };
  }
  const isBundle = parsed.level === "entries";
  const bytes = await readBytes(read, parsed);
  const isZipped = isBundle && acceptsGzip(acceptEncoding);
  return {
    status: 200,
    mediaType: "application/octet-stream",
    content: isZipped ? new Uint8Array(gzipSync(bytes)) : new Uint8Array(bytes),
    headers: {
      "cache-control": CACHE_FOR_AN_HOUR,
      ...(isBundle && { vary: "accept-encoding" }),
      ...(isZipped && { "content-encoding": "gzip" }),
    },
  };
}

/** Returns whether a tree of `size` entries has every hash of a tile. */
function isCovered({ level, index, width }: TilePath, size: number): boolean {
  const hashes = level === "entries" ? size : Math.floor(size / TILE_WIDTH ** level);
  return index * TILE_WIDTH + width <= hashes;
}

async function readBytes(read: Reader, { level, index, width }: TilePath): Promise<Uint8Array> {
  if (level !== "entries") return readTile(read, level, index, width);
  const after = index * TILE_WIDTH;
  return formatEntryBundle(await listEntriesAfter(read, { after, limit: width }));
}
