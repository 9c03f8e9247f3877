import { concatBytes } from "@agent/crypto";
import {
  createEntryScanner,
  type EntryAlarm,
  HASH_BYTES,
  hashLeaf,
  proveInclusion,
  type ReadTile,
  TILE_WIDTH,
  type TreeHead,
  verifyInclusion,
  type WatchList,
} from "@agent/transparency";
import { BadTileError, type EntryBundle, type LogReader } from "./log-reader.ts";

/** A signed head and the tiles that lead to its root. */
export interface SignedTree {
  readonly log: LogReader;
  readonly head: TreeHead;
  readonly readTile: ReadTile;
}

/** Entries in the order of the log, from index `first` on. */
interface EntryRun {
  readonly first: number;
  readonly entries: readonly Uint8Array[];
}

/** A log can enter any number of keys for an agent; the first alarms of a round suffice. */
const MAX_ENTRY_ALARMS = 10_000;
/** About 1.5 MB; the bundles after these are read twice. */
const MAX_KEPT_BUNDLES = 64;

/**
 * Scans the entries that a tree has beyond its first `oldSize`, each bundle after its hashes have led to
 * the signed root. The tasks of known receipts are learned from all of them before the first one is
 * scanned, so that a log cannot hide a second settlement by entering it before the receipt.
 */
export async function scanNewEntries(
  tree: SignedTree,
  oldSize: number,
  watch: WatchList,
  seen: readonly string[] = [],
) {
  const scanner = createEntryScanner(watch, seen);
  const kept: EntryRun[] = [];
  if ([...watch.knownArtifacts].length > 0) {
    for await (const run of readRuns(tree, oldSize)) {
      scanner.learnTasks(run.entries);
      if (kept.length < MAX_KEPT_BUNDLES) kept.push(run);
    }
  }
  const alarms: EntryAlarm[] = [];
  let unknownKinds = 0;
  for await (const { first, entries } of readRuns(tree, oldSize, kept)) {
    const scan = scanner.scan(entries, first);
    alarms.push(...scan.alarms.slice(0, MAX_ENTRY_ALARMS - alarms.length));
    unknownKinds += scan.unknownKinds;
  }
  return { alarms, seen: scanner.listSeen(), unknownKinds };
}

/** Reads the entries from index `start` on in bundles; those that were kept are not read again. */
async function* readRuns(
  { log, head, readTile }: SignedTree,
  start: number,
  kept: readonly EntryRun[] = [],
): AsyncIterable<EntryRun> {
  yield* kept;
  const end = kept.reduce((index, { entries }) => index + entries.length, start);
  if (end === head.size) return;
  for await (const bundle of log.readBundles(end, head.size)) {
    await demandBundle(bundle, head, readTile);
    const first = Math.max(end, bundle.index * TILE_WIDTH);
    yield { first, entries: bundle.entries.slice(first - bundle.index * TILE_WIDTH) };
  }
}

/**
 * The inclusion proof of the first entry, with siblings that are hashed from the others, covers them all.
 * A log that made up its root can therefore not make the monitor read entries without end.
 */
async function demandBundle(
  { index, entries }: EntryBundle,
  { size, root }: TreeHead,
  readTile: ReadTile,
): Promise<void> {
  const hashes = concatBytes(...entries.map(hashLeaf));
  const readHashed: ReadTile = (level, n, width) =>
    level === 0 && n === index ? hashes : readTile(level, n, width);
  const first = index * TILE_WIDTH;
  const proof = await proveInclusion(first, size, readHashed);
  const leaf = hashes.slice(0, HASH_BYTES);
  if (!verifyInclusion({ index: first, size, leaf, proof, root }).ok) {
    throw new BadTileError("the entries have another root");
  }
}
