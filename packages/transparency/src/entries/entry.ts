import { bytesToHex, equalBytes, hexToBytes, sha256, HEX_OF_32_BYTES } from "@agent/crypto";

/** The length of an entry in bytes. */
export const ENTRY_BYTES = 90;

/** The kinds of entries and their numbers. */
export const ENTRY_KINDS = {
  receipt: 1,
  settlement: 2,
  credential: 3,
  credential_revoked: 4,
  key_bound: 5,
  key_ended: 6,
  outcome: 7,
  liabilities: 8,
  continued: 9,
  no_show: 10,
  relay_key: 11,
} as const;

/** The name of a kind of entry. */
export type EntryKind = keyof typeof ENTRY_KINDS;

/** The facts of an entry; a missing one is 16 zero bytes. */
export interface LogEntryFacts {
  readonly kind: EntryKind;
  /** In ms by the relay's clock, a whole number below 2^53. */
  readonly time: number;
  readonly agentId?: string | null | undefined;
  /** 64 lower-case hex digits. */
  readonly publicKey?: string | null | undefined;
  /** The id of the task, credential or device that the artifact is about. */
  readonly ref?: string | null | undefined;
  /** SHA-256 as 64 lower-case hex digits. */
  readonly artifactHash: string;
}

/** A parsed entry: tags and hash in lower-case hex. */
export interface LogEntry {
  /** Null for a kind that this version does not know. */
  readonly kind: EntryKind | null;
  /** From 1 to 255. */
  readonly kindNumber: number;
  /** In ms. */
  readonly time: number;
  readonly agentTag: string;
  readonly keyTag: string;
  readonly refTag: string;
  readonly artifactHash: string;
}

/** An entry, or the refusal of malformed bytes. */
export type ParseLogEntryResult =
  | { readonly ok: true; readonly entry: LogEntry }
  | { readonly ok: false; readonly code: "log.entry_malformed" };

const VERSION = 1;
const TAG_BYTES = 16;
const [TIME_AT, AGENT_AT, KEY_AT, REF_AT, HASH_AT] = [2, 10, 26, 42, 58] as const;

/**
 * Returns the 16-byte tag by which an entry names an agent, a public key or an id. Readers who know the
 * value recognise it; others learn nothing.
 */
export function hashTag(type: "agent" | "key" | "ref", value: string): Uint8Array {
  return sha256(`agent/log/${type}\n${value}`).slice(0, TAG_BYTES);
}

/**
 * Builds the 90 bytes of an entry. Throws RangeError for a time that is not an integer from 0 to below
 * 2^53, and for a hash that is not 64 hex digits.
 */
export function buildLogEntry(facts: LogEntryFacts): Uint8Array {
  const { kind, time, agentId, publicKey, ref, artifactHash } = facts;
  if (!Number.isSafeInteger(time) || time < 0) throw new RangeError("the time must be whole ms");
  if (!HEX_OF_32_BYTES.test(artifactHash)) throw new RangeError("a hash must be 64 hex digits");
  const entry = new Uint8Array(ENTRY_BYTES);
  entry[0] = VERSION;
  entry[1] = ENTRY_KINDS[kind];
  new DataView(entry.buffer).setBigUint64(TIME_AT, BigInt(time));
  if (isGiven(agentId)) entry.set(hashTag("agent", agentId), AGENT_AT);
  if (isGiven(publicKey)) entry.set(hashTag("key", publicKey), KEY_AT);
  if (isGiven(ref)) entry.set(hashTag("ref", ref), REF_AT);
  entry.set(hexToBytes(artifactHash), HASH_AT);
  return entry;
}

/**
 * Parses an entry of any kind from 1 to 255. Any other length or version, kind 0 and a time of 2^53 or more
 * are refused with `log.entry_malformed`.
 */
export function parseLogEntry(bytes: Uint8Array): ParseLogEntryResult {
  const malformed = { ok: false, code: "log.entry_malformed" } as const;
  const [version, kindNumber = 0] = bytes;
  if (bytes.length !== ENTRY_BYTES || version !== VERSION || kindNumber === 0) return malformed;
  const time = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(TIME_AT));
  if (!Number.isSafeInteger(time)) return malformed;
  const read = (start: number, end: number) => bytesToHex(bytes.subarray(start, end));
  return {
    ok: true,
    entry: {
      kind: kindNames.get(kindNumber) ?? null,
      kindNumber,
      time,
      agentTag: read(AGENT_AT, KEY_AT),
      keyTag: read(KEY_AT, REF_AT),
      refTag: read(REF_AT, HASH_AT),
      artifactHash: read(HASH_AT, ENTRY_BYTES),
    },
  };
}

const kindNames = new Map(
  Object.entries(ENTRY_KINDS).map(([kind, number]) => [number as number, kind as EntryKind]),
);

/**
 * Returns whether two entries are of the same artifact: everything but the time is equal. Only the log
 * vouches for the time of an entry.
 */
export function isSameArtifact(left: Uint8Array, right: Uint8Array): boolean {
  const [leftRest, rightRest] = [left, right].map((entry) => entry.subarray(AGENT_AT));
  return left[0] === right[0] && left[1] === right[1] && equalBytes(leftRest!, rightRest!);
}

const isGiven = (value: string | null | undefined): value is string =>
  value !== undefined && value !== null;
