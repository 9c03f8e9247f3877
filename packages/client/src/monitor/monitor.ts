import { equalBytes } from "@agent/crypto";
import {
  type CheckpointRefusal,
  type EntryAlarmCode,
  formatVerifierKey,
  getEmptyRoot,
  type VerifierKey,
  type WatchList,
} from "@agent/transparency";
import { createEnvironment, type Environment } from "../environment.ts";
import { findSplit } from "./find-split.ts";
import { limitRound } from "./limit-round.ts";
import {
  BadTileError,
  computeRootOf,
  createLogReader,
  type LogReader,
  UnreachableError,
} from "./log-reader.ts";
import type { MonitorState } from "./monitor-state.ts";
import { scanNewEntries } from "./scan-new-entries.ts";
import {
  findFork,
  type HeadReading,
  type HeadReadings,
  isSameHead,
  listSigned,
  listUnproven,
  openStoredHead,
  readHeads,
  type SeenHead,
  type ShownWitness,
} from "./signed-heads.ts";

/** The log that a monitor checks, and the monitor's stored state. */
export interface MonitorOptions extends Partial<Pick<Environment, "fetch" | "now" | "schedule">> {
  /** The URL prefix of the log's paths, without a trailing slash. */
  readonly prefix: string;
  readonly logKey: VerifierKey;
  /** The trusted witnesses, with the URLs at which they publish what they cosigned. */
  readonly witnesses?: readonly ShownWitness[];
  readonly quorum?: number;
  readonly watch: WatchList;
  readonly state: {
    readonly load: () => Promise<MonitorState | null>;
    readonly save: (state: MonitorState) => Promise<void>;
  };
  /** Receives the alarms of a round before its state is saved, so that no crash loses one. */
  readonly report: (alarms: readonly MonitorAlarm[]) => void | Promise<void>;
}

/** The codes of a monitor's alarms. */
export type MonitorAlarmCode =
  | CheckpointRefusal
  | EntryAlarmCode
  | "monitor.rolled_back"
  | "monitor.split_view"
  | "monitor.bad_tile"
  | "monitor.stale";

/** A finding that needs the attention of the monitor's owner. */
export interface MonitorAlarm {
  readonly code: MonitorAlarmCode;
  /** The index of the entry, if the alarm is about one. */
  readonly index?: number;
  /** Two checkpoints that the log signed and that contradict each other. */
  readonly evidence?: readonly [string, string];
}

/** The findings of one round, or the reason why the log could not be read. */
export type MonitorResult =
  | {
      readonly ok: true;
      readonly alarms: readonly MonitorAlarm[];
      /** The number of entries of the checked head. */
      readonly size: number;
      /** The number of new entries of kinds that this version does not know. */
      readonly unknownKinds: number;
    }
  | {
      readonly ok: false;
      readonly code: "network.unreachable";
      /** A description of the failed answer. */
      readonly detail: string;
    };

const STALE_AFTER_MS = 3_600_000;
/** Ends a round: the log contradicts itself, so its head is not stored. */
class AlarmError extends Error {
  readonly alarm: MonitorAlarm;

  constructor(alarm: MonitorAlarm) {
    super(alarm.code);
    this.alarm = alarm;
  }
}

/**
 * Creates a monitor of a transparency log. Each `check` reads the heads that the log and its witnesses
 * publish, and compares those of equal size before it makes any other request to the log. It then requires
 * a proof that all heads are of one tree, rebuilds the published tree from its tiles, and scans the new
 * entries. A head that the log signed is kept until that proof is verified, so that a log cannot hide a
 * head by no longer answering. The published head is stored only after all comparisons have passed; alarms
 * about entries are reported once. A round that takes longer than half an hour ends as if the log were
 * unreachable, and the next one continues after the entries that were scanned.
 */
export function createMonitor(options: MonitorOptions): { check: () => Promise<MonitorResult> } {
  const environment = createEnvironment(options);
  const { now } = environment;
  const { prefix, logKey, witnesses = [], quorum = 0, watch, state, report } = options;
  const vkey = formatVerifierKey(logKey);

  async function raise(alarm: MonitorAlarm): Promise<MonitorResult> {
    await report([alarm]);
    return { ok: true, alarms: [alarm], size: 0, unknownKinds: 0 };
  }

  async function checkRound(network: Pick<Environment, "fetch">): Promise<MonitorResult> {
    const log = createLogReader(prefix, network);
    const stored = await state.load();
    const open = (text: string) => openStoredHead(text, logKey);
    const before = typeof stored?.checkpoint === "string" ? open(stored.checkpoint) : null;
    const held = (stored?.unproven ?? []).map(open);
    const readings = await readHeads(log, { logKey, witnesses, quorum }, network);
    const heads = [...held, ...listSigned(readings)];
    const fork = findFork(before === null ? heads : [before, ...heads]);
    const ended = fork === null ? null : await raise(buildSplit(...fork));
    const unproven = listUnproven(heads, before);
    if (unproven.length > held.length) {
      const first = { log: vkey, checkpoint: null, first_seen_at: now(), seen: [] };
      await state.save({ ...(stored ?? first), unproven: unproven.map(({ text }) => text) });
    }
    return ended ?? (await checkTree(log, { stored, before, heads, readings }));
  }

  async function checkTree(log: LogReader, { stored, before, heads, readings }: RoundHeads) {
    const published = demandHead(readings.published, before);
    if (before !== null && published.head.size < before.head.size) {
      const evidence = [before.text, published.text] as const;
      throw new AlarmError({ code: "monitor.rolled_back", evidence });
    }
    const tileReaders = log.createTileReaders();
    const readTile = tileReaders(published.head.size);
    const root = await computeRootOf(published.head.size, readTile, getEmptyRoot());
    if (!equalBytes(root, published.head.root)) throw new BadTileError("the tiles differ");
    const split = await findSplit(before === null ? heads : [before, ...heads], tileReaders);
    if (split !== null) throw new AlarmError(buildSplit(...split));
    const isSame = before !== null && isSameHead(before, published);
    const firstSeenAt = isSame ? stored!.first_seen_at : now();
    const checked = { log: vkey, checkpoint: published.text, first_seen_at: firstSeenAt };
    const tree = { log, head: published.head, readTile };
    const start = stored?.scanned ?? before?.head.size ?? 0;
    const alarms: MonitorAlarm[] = [];
    let unknownKinds = 0;
    for await (const part of scanNewEntries(tree, start, watch, stored?.seen)) {
      if (part.alarms.length > 0) await report(part.alarms);
      await state.save({ ...checked, scanned: part.end, seen: [...part.seen], unproven: [] });
      alarms.push(...part.alarms);
      unknownKinds += part.unknownKinds;
    }
    // Checked last, because a log without a valid latest head must not hide the alarms about its entries.
    const latest = demandHead(readings.latest, before);
    if (isStale(published, latest, { firstSeenAt, now: now() })) {
      alarms.push({ code: "monitor.stale" });
      await report(alarms.slice(-1));
    }
    return { ok: true as const, alarms, size: published.head.size, unknownKinds };
  }

  return {
    async check() {
      try {
        return await limitRound(environment, checkRound);
      } catch (error) {
        if (error instanceof UnreachableError) {
          return { ok: false, code: "network.unreachable", detail: error.message };
        }
        return raise(toAlarm(error));
      }
    },
  };
}

/** The heads of a round and the state from the previous one. */
interface RoundHeads {
  readonly stored: MonitorState | null;
  readonly before: SeenHead | null;
  /** The heads that the log signed but that are not yet proven to be of one tree. */
  readonly heads: readonly SeenHead[];
  readonly readings: HeadReadings;
}

function toAlarm(error: unknown): MonitorAlarm {
  if (error instanceof AlarmError) return error.alarm;
  if (error instanceof BadTileError) return { code: "monitor.bad_tile" };
  throw error;
}

const buildSplit = (left: SeenHead, right: SeenHead): MonitorAlarm => ({
  code: "monitor.split_view",
  evidence: [left.text, right.text],
});

/** A log that has published a head must always have one. */
function demandHead(reading: HeadReading, before: SeenHead | null): SeenHead {
  if (reading.ok) return reading.seen;
  if (reading.code === "network.unreachable") throw new UnreachableError(reading.detail);
  const { code } = reading;
  if (code !== "log.no_checkpoint") throw new AlarmError({ code });
  if (before === null) throw new UnreachableError("its address has no checkpoint (status 404)");
  throw new AlarmError({ code: "monitor.rolled_back" });
}

/**
 * Returns whether the log grew but has published no newer head for an hour. A witness whose clock is fast
 * cannot make a head newer than the time when it was first seen.
 */
function isStale(
  published: SeenHead,
  latest: SeenHead,
  times: { readonly firstSeenAt: number; readonly now: number },
): boolean {
  const cosignedAt = published.cosignatures.map(({ time }) => time * 1_000);
  const newest = cosignedAt.length === 0 ? Infinity : Math.max(...cosignedAt);
  const since = Math.min(times.firstSeenAt, newest);
  return latest.head.size > published.head.size && times.now - since > STALE_AFTER_MS;
}
