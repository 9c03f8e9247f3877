/** The number of tree levels that a tile spans. */
export const TILE_HEIGHT = 8;

/** The number of hashes in a full tile, and of entries in a full bundle. */
export const TILE_WIDTH = 2 ** TILE_HEIGHT;

const MAX_LEVEL = 63;

/** A tile of hashes at a level of the tree, or a bundle of log entries. */
export interface TilePath {
  readonly level: number | "entries";
  readonly index: number;
  /** From 1 to 256; below 256 the tile is partial. */
  readonly width: number;
}

/** The tile that a path names, or the refusal of a malformed path. */
export type ParseTilePathResult =
  | ({ readonly ok: true } & TilePath)
  | { readonly ok: false; readonly code: "log.malformed" };

/**
 * Returns the path of a tile below a log's prefix (C2SP tlog-tiles), such as `tile/0/x001/234.p/5`.
 */
export function formatTilePath(
  level: number | "entries",
  index: number,
  width: number = TILE_WIDTH,
): string {
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, "0").match(/.{3}/g) ?? [];
  const place = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join("/");
  return `tile/${level}/${place}${width === TILE_WIDTH ? "" : `.p/${width}`}`;
}

/**
 * Parses a path that `formatTilePath` returns, with a level below 64 and an index below 2^53. Any other
 * text, including another notation of the same tile, is refused with `log.malformed`.
 */
export function parseTilePath(path: string): ParseTilePathResult {
  const match = /^tile\/(entries|\d{1,2})\/((?:x\d{3}\/){0,5}\d{3})(?:\.p\/(\d{1,3}))?$/.exec(path);
  const [, place = "", digits = "", partial] = match ?? [];
  const level = place === "entries" ? place : Number(place);
  const index = Number(digits.replaceAll(/[x/]/g, ""));
  const width = partial === undefined ? TILE_WIDTH : Number(partial);
  const isInRange =
    match !== null &&
    (level === "entries" || level <= MAX_LEVEL) &&
    Number.isSafeInteger(index) &&
    width >= 1 &&
    width <= TILE_WIDTH;
  return isInRange && formatTilePath(level, index, width) === path
    ? { ok: true, level, index, width }
    : { ok: false, code: "log.malformed" };
}

/** The tiles of one level: `full` tiles of 256 hashes, then one of `partial` hashes unless that is 0. */
export interface TileCount {
  readonly level: number;
  readonly full: number;
  readonly partial: number;
}

/** Returns the tiles of a tree of `size` leaves, from the leaves up. */
export function countTiles(size: number): TileCount[] {
  const counts: TileCount[] = [];
  for (let level = 0, hashes = size; hashes > 0; level++) {
    const full = Math.floor(hashes / TILE_WIDTH);
    counts.push({ level, full, partial: hashes % TILE_WIDTH });
    hashes = full;
  }
  return counts;
}
