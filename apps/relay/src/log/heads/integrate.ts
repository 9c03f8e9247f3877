import {
  type FullTile,
  hashLeaf,
  type LogKeys,
  signCheckpoint,
  type TreeEdge,
} from "@agent/transparency";
import type { Storage, Tx } from "../../storage/storage.ts";
import { listEntriesAfter } from "../entries/entry-store.ts";
import { formatOrigin } from "../generation.ts";
import { indexEntries } from "../segments/index-entries.ts";
import { findLogState, findNewestHead, insertHead, insertTile, publishHead } from "../store.ts";
import { yieldToEventLoop } from "../../storage/yield-to-event-loop.ts";

/** Few enough that storing them delays other transactions by milliseconds only. */
const BATCH_ENTRIES = 1_000;
/** Few enough that hashing them takes a millisecond or two, after which other requests are served. */
const STEP_ENTRIES = 256;

interface Integration {
  readonly storage: Storage;
  readonly edge: TreeEdge;
  readonly keys: LogKeys;
  readonly quorum: number;
  readonly now: number;
}

export interface IntegratedBatch {
  /** False if another generation or head was stored in the meantime; the edge is then outdated. */
  readonly stored: boolean;
  readonly note: string;
  /** The number of its entries. */
  readonly entries: number;
  /** Whether more entries may have been committed before the batch than it has. */
  readonly isFull: boolean;
}

/**
 * Signs a head over the next committed entries and stores it with the tiles that they fill. The head is
 * served from the store, so never before it is durable. Returns undefined if there are no new entries.
 */
export async function integrateBatch({
  storage,
  edge,
  keys,
  quorum,
  now,
}: Integration): Promise<IntegratedBatch | undefined> {
  const before = edge.size;
  const entries = await listEntriesAfter(storage.read, { after: before, limit: BATCH_ENTRIES });
  if (entries.length === 0) return undefined;
  const tiles = await appendInSteps(edge, entries);
  const { size } = edge;
  const note = signCheckpoint({ origin: keys.origin, size, root: edge.root() }, keys.secretKey);
  const stored = await storage.transaction(async (tx) => {
    const state = await findLogState(tx);
    const newest = await findNewestHead(tx);
    const isCurrent = state !== undefined && formatOrigin(state) === keys.origin;
    if (!isCurrent || (newest?.size ?? 0) !== before) return false;
    await insertTiles(tx, tiles);
    await indexEntries(tx, before, size);
    await insertHead(tx, { size, signed_at: now, note, cosigned: 0 });
    if (quorum === 0) await publishHead(tx, size);
    return true;
  });
  return { stored, note, entries: entries.length, isFull: entries.length === BATCH_ENTRIES };
}

/** Appends entries to the edge of the tree and returns the tiles that became full. */
async function appendInSteps(edge: TreeEdge, entries: readonly Uint8Array[]): Promise<FullTile[]> {
  const tiles: FullTile[] = [];
  for (let at = 0; at < entries.length; at += STEP_ENTRIES) {
    if (at > 0) await yieldToEventLoop();
    for (const entry of entries.slice(at, at + STEP_ENTRIES)) {
      tiles.push(...edge.append(hashLeaf(entry)));
    }
  }
  return tiles;
}

async function insertTiles(tx: Tx, tiles: readonly FullTile[]): Promise<void> {
  for (const { level, index, hashes, root } of tiles) {
    await insertTile(tx, { level, n: index, hashes, root });
  }
}
