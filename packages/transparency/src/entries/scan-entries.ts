import { bytesToHex } from "@agent/crypto";
import { hashTag, type LogEntry, parseLogEntry } from "./entry.ts";

/** The agents, keys and tasks of the owner of a monitor. */
export interface WatchList {
  readonly agentIds: readonly string[];
  /** Public keys as 64 lower-case hex digits. */
  readonly keys: readonly string[];
  /** Artifact hashes as 64 lower-case hex digits; pass a set to avoid building one. */
  readonly knownArtifacts: readonly string[] | ReadonlySet<string>;
  /** Task ids. The first task that a known receipt is logged for also counts as known. */
  readonly knownRefs: readonly string[];
}

/** The codes with which a scan reports an entry. */
export type EntryAlarmCode =
  | "log.entry_malformed"
  | "monitor.unknown_key"
  | "monitor.unknown_receipt"
  | "monitor.unknown_settlement"
  | "monitor.twice";

/** An entry that needs the attention of the monitor's owner. */
export interface EntryAlarm {
  readonly code: EntryAlarmCode;
  readonly index: number;
}

/** The findings of a scan, and its state for the next one. */
export interface ScanResult {
  readonly alarms: readonly EntryAlarm[];
  /** The number of entries of kinds that this version does not know. */
  readonly unknownKinds: number;
  /** The known receipts and the artifacts of known tasks seen so far, for the next scan. */
  readonly seen: readonly string[];
}

/** A task has at most one entry of each of these kinds. */
const SINGLE_KINDS: readonly LogEntry["kind"][] = ["receipt", "settlement", "outcome"];

/** Scans a log in parts; see `createEntryScanner`. */
export interface EntryScanner {
  /**
   * Learns the tasks of known receipts from entries. The caller must pass all entries before it scans the
   * first one, so that their order does not matter. A receipt belongs to one task: if a log enters it for a
   * second one, that task does not become known.
   */
  learnTasks(entries: readonly Uint8Array[]): void;
  /** Scans entries like `scanEntries`; `first` is the index of the first one. */
  scan(entries: readonly Uint8Array[], first: number): Omit<ScanResult, "seen">;
  /** Lists the known receipts and the artifacts of known tasks seen so far, for the next scan. */
  listSeen(): readonly string[];
}

/**
 * Scans entries, the first of which has the index `first`, for alarms about the watched agents, keys and
 * tasks: a key of a watched agent that is not watched itself (`monitor.unknown_key`), an unknown receipt by
 * a watched agent or key, a settlement of an unknown task, and a second receipt, settlement or outcome of a
 * known task or a second entry of a known receipt (`monitor.twice`). A task is known by its id, or by the
 * first entry of a known receipt in this scan or an earlier one; otherwise the order of entries in a scan
 * does not matter. `seen` comes from the previous scan.
 */
export function scanEntries(
  entries: readonly Uint8Array[],
  watched: WatchList,
  { first = 0, seen = [] }: { readonly first?: number; readonly seen?: readonly string[] } = {},
): ScanResult {
  const scanner = createEntryScanner(watched, seen);
  scanner.learnTasks(entries);
  return { ...scanner.scan(entries, first), seen: scanner.listSeen() };
}

/**
 * Creates a scanner for a log that is read in parts. It hashes the watched values once for all parts;
 * `seen` comes from the previous scan.
 */
export function createEntryScanner(watched: WatchList, seen: readonly string[] = []): EntryScanner {
  const list = {
    agentTags: hashTags("agent", watched.agentIds),
    keyTags: hashTags("key", watched.keys),
    artifacts: toSet(watched.knownArtifacts),
    refTags: hashTags("ref", watched.knownRefs),
    seen: new Set(seen),
  };
  const learned = new Set<string>();
  return {
    learnTasks(entries) {
      for (const bytes of entries) {
        const parsed = parseLogEntry(bytes);
        if (!parsed.ok || !isKnownReceipt(parsed.entry, list)) continue;
        const { artifactHash, refTag } = parsed.entry;
        if (learned.has(artifactHash) || list.seen.has(formatSeen("receipt", artifactHash)))
          continue;
        learned.add(artifactHash);
        list.refTags.add(refTag);
      }
    },
    scan(entries, first) {
      const alarms: EntryAlarm[] = [];
      let unknownKinds = 0;
      entries.forEach((bytes, position) => {
        const parsed = parseLogEntry(bytes);
        const codes = parsed.ok ? listAlarms(parsed.entry, list) : [parsed.code];
        alarms.push(...codes.map((code) => ({ code, index: first + position })));
        if (parsed.ok && parsed.entry.kind === null) unknownKinds++;
      });
      return { alarms, unknownKinds };
    },
    listSeen: () => [...list.seen],
  };
}

interface TagList {
  readonly agentTags: ReadonlySet<string>;
  readonly keyTags: ReadonlySet<string>;
  readonly artifacts: ReadonlySet<string>;
  readonly refTags: Set<string>;
  readonly seen: Set<string>;
}

const isKnownReceipt = ({ kind, artifactHash }: LogEntry, list: TagList): boolean =>
  kind === "receipt" && list.artifacts.has(artifactHash);

function listAlarms(entry: LogEntry, list: TagList): EntryAlarmCode[] {
  const { kind, agentTag, keyTag, refTag, artifactHash } = entry;
  const [isOfAgent, isOfKey] = [list.agentTags.has(agentTag), list.keyTags.has(keyTag)];
  const codes: EntryAlarmCode[] = [];
  if (kind === "key_bound" && isOfAgent && !isOfKey) codes.push("monitor.unknown_key");
  const isKnown = isKnownReceipt(entry, list);
  if (kind === "receipt" && (isOfAgent || isOfKey) && !isKnown) {
    codes.push("monitor.unknown_receipt");
  }
  const isOfTask = list.refTags.has(refTag) || list.seen.has(formatSeen("receipt", refTag));
  if (kind === "settlement" && isOfAgent && !isOfTask) codes.push("monitor.unknown_settlement");
  const names = [
    ...(isOfTask && SINGLE_KINDS.includes(kind) ? [formatSeen(kind, refTag)] : []),
    ...(isKnown ? [formatSeen("receipt", artifactHash)] : []),
  ];
  if (names.some((name) => list.seen.has(name))) codes.push("monitor.twice");
  for (const name of names) list.seen.add(name);
  return codes;
}

/** Formats the name of an artifact of a task, or of a known receipt, whose hash is longer than a tag. */
const formatSeen = (kind: LogEntry["kind"], tagOrHash: string) => `${kind}/${tagOrHash}`;

const toSet = (values: readonly string[] | ReadonlySet<string>): ReadonlySet<string> =>
  values instanceof Set ? values : new Set(values);

function hashTags(type: "agent" | "key" | "ref", values: readonly string[]): Set<string> {
  return new Set(values.map((value) => bytesToHex(hashTag(type, value))));
}
