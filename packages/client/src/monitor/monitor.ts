import { concatBytes, equalBytes, sha256Hex } from "@agent/crypto";
import {
  compareHeads,
  type Cosignature,
  type EntryAlarmCode,
  formatVerifierKey,
  getEmptyRoot,
  HASH_BYTES,
  hashLeaf,
  openCheckpoint,
  type CheckpointRefusal,
  proveInclusion,
  type ReadTile,
  scanEntries,
  TILE_WIDTH,
  type TreeHead,
  type VerifierKey,
  verifyInclusion,
  type WatchList,
} from "@agent/transparency";
import { createEnvironment, type Environment } from "../environment.ts";
import {
  BadTileError,
  computeRootOf,
  createLogReader,
  type EntryBundle,
  type LogReader,
  UnreachableError,
} from "./log-reader.ts";
import type { MonitorState } from "./monitor-state.ts";

export interface MonitorOptions extends Partial<Pick<Environment, "fetch" | "now">> {
  /** The URL below which the log has its paths, without a final slash. */
  readonly prefix: string;
  readonly logKey: VerifierKey;
  /** The witnesses that count, with the URLs at which they show what they cosigned. */
  readonly witnesses?: readonly { readonly key: VerifierKey; readonly prefix: string }[];
  readonly quorum?: number;
  readonly watch: WatchList;
  readonly state: {
    readonly load: () => Promise<MonitorState | null>;
    readonly save: (state: MonitorState) => Promise<void>;
  };
  /** Receives the alarms of a round before its state is saved, so that no crash loses one. */
  readonly report: (alarms: readonly MonitorAlarm[]) => void | Promise<void>;
}

export type MonitorAlarmCode =
  | CheckpointRefusal
  | EntryAlarmCode
  | "monitor.rolled_back"
  | "monitor.split_view"
  | "monitor.bad_tile"
  | "monitor.stale";

export interface MonitorAlarm {
  readonly code: MonitorAlarmCode;
  /** The index of the entry, if the alarm is about one. */
  readonly index?: number;
  /** Two checkpoints that the log signed and that contradict each other. */
  readonly evidence?: readonly [string, string];
}

export type MonitorResult =
  | {
      readonly ok: true;
      readonly alarms: readonly MonitorAlarm[];
      /** The number of entries of the checked head. */
      readonly size: number;
      /** The number of new entries of kinds that this version does not know. */
      readonly unknownKinds: number;
    }
  | { readonly ok: false; readonly code: "network.unreachable" };

const STALE_AFTER_MS = 3_600_000;
/** A log can enter any number of keys for an agent; the first alarms of a round suffice. */
const MAX_ENTRY_ALARMS = 10_000;

/** A head with the checkpoint that it was opened from. */
interface SeenHead {
  readonly head: TreeHead;
  readonly text: string;
  readonly cosignatures: readonly Cosignature[];
}

/** Ends a round: the log lies about its own past, so its head is not stored. */
class AlarmError extends Error {
  readonly alarm: MonitorAlarm;

  constructor(alarm: MonitorAlarm) {
    super(alarm.code);
    this.alarm = alarm;
  }
}

/**
 * Creates a monitor of a transparency log. Each `check` compares the published head with the one before
 * and with those of the witnesses, rebuilds it from the entries, and scans the new entries. The head is
 * stored only after all comparisons held; alarms about entries are reported once.
 */
export function createMonitor(options: MonitorOptions): { check: () => Promise<MonitorResult> } {
  const network = createEnvironment(options);
  const { now } = network;
  const { prefix, logKey, witnesses = [], quorum = 0, watch, state, report } = options;
  const log = createLogReader(prefix, network);

  async function checkRound(): Promise<MonitorResult> {
    const stored = await state.load();
    const before = stored === null ? null : reopen(stored.checkpoint, logKey);
    const trusted = witnesses.map(({ key }) => key);
    const published = await readHead(log, "checkpoint", { logKey, witnesses: trusted, quorum });
    const isSame = before !== null && equalBytes(before.head.root, published.head.root);
    const firstSeenAt = isSame ? stored!.first_seen_at : now();
    const readTile = log.createTileReader(published.head.size);
    await compareWithBefore(before, published, readTile);
    const scan = await scanNew({ log, published, readTile, watch }, before, stored?.seen ?? []);
    for (const witness of witnesses) {
      const reader = createLogReader(witness.prefix, network);
      await compareWithWitness({ witness: witness.key, reader, log, logKey }, published);
    }
    const alarms: MonitorAlarm[] = [...scan.alarms];
    if (await isStale(log, published, { logKey, firstSeenAt, now: now() })) {
      alarms.push({ code: "monitor.stale" });
    }
    if (alarms.length > 0) await report(alarms);
    const { seen, unknownKinds } = scan;
    const checkpoint = published.text;
    const vkey = formatVerifierKey(logKey);
    await state.save({ log: vkey, checkpoint, first_seen_at: firstSeenAt, seen: [...seen] });
    return { ok: true, alarms, size: published.head.size, unknownKinds };
  }

  return {
    async check() {
      try {
        return await checkRound();
      } catch (error) {
        if (error instanceof UnreachableError) return { ok: false, code: "network.unreachable" };
        const alarm = toAlarm(error);
        await report([alarm]);
        return { ok: true, alarms: [alarm], size: 0, unknownKinds: 0 };
      }
    },
  };
}

function toAlarm(error: unknown): MonitorAlarm {
  if (error instanceof AlarmError) return error.alarm;
  if (error instanceof BadTileError) return { code: "monitor.bad_tile" };
  throw error;
}

function reopen(text: string, logKey: VerifierKey): SeenHead {
  const opened = openCheckpoint(text, { logKey });
  if (!opened.ok) throw new Error(`the stored checkpoint is invalid: ${opened.code}`);
  return { ...opened, text };
}

async function readHead(
  log: LogReader,
  path: string,
  trust: Parameters<typeof openCheckpoint>[1],
): Promise<SeenHead> {
  const bytes = await log.readNote(path);
  if (bytes === null) throw new UnreachableError("the log has no checkpoint yet");
  const opened = openCheckpoint(bytes, trust);
  if (!opened.ok) throw new AlarmError({ code: opened.code });
  return { ...opened, text: new TextDecoder().decode(bytes) };
}

/** Both roots are computed from the tiles of the new tree, which therefore begins with the old one. */
async function compareWithBefore(
  before: SeenHead | null,
  published: SeenHead,
  readTile: ReadTile,
): Promise<void> {
  if (before !== null && published.head.size < before.head.size) {
    throw new AlarmError({ code: "monitor.rolled_back", evidence: [before.text, published.text] });
  }
  if (before !== null && isFork(before, published)) throw buildSplit(before, published);
  const root = await computeRootOf(published.head.size, readTile, getEmptyRoot());
  if (!equalBytes(root, published.head.root)) throw new BadTileError("the tiles have another root");
  if (before !== null) await demandPrefix(before, published, readTile);
}

async function demandPrefix(part: SeenHead, whole: SeenHead, readTile: ReadTile): Promise<void> {
  const root = await computeRootOf(part.head.size, readTile, getEmptyRoot());
  if (!equalBytes(root, part.head.root)) throw buildSplit(part, whole);
}

const isFork = (left: SeenHead, right: SeenHead) =>
  left.head.size === right.head.size && !compareHeads(left.head, right.head).ok;

const buildSplit = (left: SeenHead, right: SeenHead) =>
  new AlarmError({ code: "monitor.split_view", evidence: [left.text, right.text] });

/** Scans the new entries, each bundle after its hashes have led to the signed root. */
async function scanNew(
  {
    log,
    published,
    readTile,
    watch,
  }: { log: LogReader; published: SeenHead; readTile: ReadTile; watch: WatchList },
  before: SeenHead | null,
  seenBefore: readonly string[],
) {
  const oldSize = before?.head.size ?? 0;
  let seen = seenBefore;
  let unknownKinds = 0;
  const alarms: MonitorAlarm[] = [];
  for await (const bundle of log.readBundles(oldSize, published.head.size)) {
    await demandBundle(bundle, published.head, readTile);
    const start = bundle.index * TILE_WIDTH;
    const known = Math.max(0, oldSize - start);
    const entries = bundle.entries.slice(known);
    const scan = scanEntries(entries, watch, { first: start + known, seen });
    alarms.push(...scan.alarms.slice(0, MAX_ENTRY_ALARMS - alarms.length));
    seen = scan.seen;
    unknownKinds += scan.unknownKinds;
  }
  return { alarms, seen, unknownKinds };
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

/** The head that a witness shows must be of the same tree; a silent witness is no alarm. */
async function compareWithWitness(
  parts: {
    readonly witness: VerifierKey;
    readonly reader: LogReader;
    readonly log: LogReader;
    readonly logKey: VerifierKey;
  },
  published: SeenHead,
): Promise<void> {
  const { witness, reader, log, logKey } = parts;
  const bytes = await readOrNull(reader, `${sha256Hex(logKey.name)}/checkpoint`);
  const opened =
    bytes === null ? null : openCheckpoint(bytes, { logKey, witnesses: [witness], quorum: 1 });
  if (bytes === null || opened?.ok !== true) return;
  const shown = { ...opened, text: new TextDecoder().decode(bytes) };
  const size = Math.max(shown.head.size, published.head.size);
  const readTile = log.createTileReader(size);
  try {
    await demandPrefix(shown, published, readTile);
    await demandPrefix(published, shown, readTile);
  } catch (error) {
    // The log signed this size, so it must have the tiles.
    throw error instanceof BadTileError ? buildSplit(published, shown) : error;
  }
}

async function readOrNull(reader: LogReader, path: string): Promise<Uint8Array | null> {
  try {
    return await reader.readNote(path);
  } catch (error) {
    if (error instanceof UnreachableError || error instanceof BadTileError) return null;
    throw error;
  }
}

/** The log grew, but it has published no newer head for an hour. */
async function isStale(
  log: LogReader,
  published: SeenHead,
  times: { readonly logKey: VerifierKey; readonly firstSeenAt: number; readonly now: number },
): Promise<boolean> {
  const latest = await readHead(log, "latest", { logKey: times.logKey });
  if (isFork(published, latest)) throw buildSplit(published, latest);
  const cosignedAt = published.cosignatures.map(({ time }) => time * 1_000);
  const since = cosignedAt.length === 0 ? times.firstSeenAt : Math.max(...cosignedAt);
  return latest.head.size > published.head.size && times.now - since > STALE_AFTER_MS;
}
