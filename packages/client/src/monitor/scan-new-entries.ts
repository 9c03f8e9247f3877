import { concatBytes } from "@agent/crypto";
import {
  createEntryScanner,
  type EntryAlarm,
  type EntryScanner,
  HASH_BYTES,
  hashLeaf,
  proveInclusion,
  type ReadTile,
  type ScanResult,
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

/** A log can contain any number of keys for an agent; the first alarms of a round suffice. */
const MAX_ENTRY_ALARMS = 10_000;
/** About 1.5 MB; further bundles are read twice. */
const MAX_KEPT_BUNDLES = 64;
/** The number of entries within which their order can hide nothing: an hour of nine paid tasks a second. */
const PART_ENTRIES = 2 ** 16;

/** A part of the new entries that was scanned. */
export interface ScannedPart extends ScanResult {
  /** The number of entries of the log that have been scanned, including this part. */
  readonly end: number;
}

/**
 * Scans the entries of a tree after the first `start` in parts of 2^16, each bundle only after its hashes
 * have led to the signed root. The tasks of known receipts are learned from a whole part before its first
 * entry is scanned, so that a log cannot hide a second settlement by logging it before the receipt.
 * Progress can be stored after each part, so that an aborted round has not read it in vain. If nothing is
 * new, there is one empty part.
 */
export async function* scanNewEntries(
  tree: SignedTree,
  start: number,
  watch: WatchList,
  seen: readonly string[] = [],
): AsyncIterable<ScannedPart> {
  const scanner = createEntryScanner(watch, seen);
  const isLearning = [...watch.knownArtifacts].length > 0;
  let alarmsLeft = MAX_ENTRY_ALARMS;
  let end = start;
  do {
    const part = { start: end, end: Math.min(end + PART_ENTRIES, tree.head.size) };
    const scan = await scanPart(tree, part, scanner, isLearning);
    const alarms = scan.alarms.slice(0, alarmsLeft);
    alarmsLeft -= alarms.length;
    end = part.end;
    yield { ...scan, alarms, seen: scanner.listSeen(), end };
  } while (end < tree.head.size);
}

/** The entries from index `start` to `end` (excluded). */
interface Range {
  readonly start: number;
  readonly end: number;
}

async function scanPart(
  tree: SignedTree,
  range: Range,
  scanner: EntryScanner,
  isLearning: boolean,
): Promise<Omit<ScanResult, "seen">> {
  const kept: EntryRun[] = [];
  if (isLearning) {
    for await (const run of readRuns(tree, range)) {
      scanner.learnTasks(run.entries);
      if (kept.length < MAX_KEPT_BUNDLES) kept.push(run);
    }
  }
  const alarms: EntryAlarm[] = [];
  let unknownKinds = 0;
  for await (const { first, entries } of readRuns(tree, range, kept)) {
    const scan = scanner.scan(entries, first);
    alarms.push(...scan.alarms.slice(0, MAX_ENTRY_ALARMS - alarms.length));
    unknownKinds += scan.unknownKinds;
  }
  return { alarms, unknownKinds };
}

/** Reads the entries of a range in bundles; kept bundles are not read again. */
async function* readRuns(
  { log, head, readTile }: SignedTree,
  { start, end }: Range,
  kept: readonly EntryRun[] = [],
): AsyncIterable<EntryRun> {
  yield* kept;
  const from = kept.reduce((index, { entries }) => index + entries.length, start);
  for await (const bundle of log.readBundles({ start: from, end }, head.size)) {
    await demandBundle(bundle, head, readTile);
    const base = bundle.index * TILE_WIDTH;
    const first = Math.max(from, base);
    yield { first, entries: bundle.entries.slice(first - base, end - base) };
  }
}

/**
 * The inclusion proof of the first entry covers all entries, because its siblings are computed from the
 * others. So a log with an invented root cannot make the monitor read entries without end.
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
