/** An entry of the transparency log, in the order in which transactions committed. */
export interface LogEntryRow {
  /** The index of the entry, plus 1. */
  idx: number;
  /** 90 bytes. */
  entry: Uint8Array;
}

/** A full tile of the log's tree. */
export interface LogTileRow {
  level: number;
  n: number;
  /** 256 hashes of 32 bytes. */
  hashes: Uint8Array;
  /** The root of these hashes, which is a hash of the next level. */
  root: Uint8Array;
}

/** Finds the entries of an artifact that were indexed before there were segments. */
export interface LogIndexRow {
  /** The first 6 bytes of the artifact's hash. */
  prefix: number;
  idx: number;
}

/** A part of the index by artifact: the entries of a range of the log, ordered by their prefix. */
export interface LogSegmentRow {
  segment: number;
  /** That of the log; the segments of an older one are no longer read. */
  generation: number;
  /** 0 for a segment of new entries; a merge makes one segment of the next level. */
  level: number;
  /** The number of entries of the log before those of the segment. */
  first: number;
  /** Only a live one is read. A merge fills one, and then ends those that it merged. */
  state: "live" | "filling" | "ended";
  /** The prefixes up to this one are in a segment that is being filled. */
  copied: Uint8Array;
}

/** Finds the entries of an artifact in a segment. */
export interface LogSegmentEntryRow {
  segment: number;
  /** The first 6 bytes of the artifact's hash. */
  prefix: Uint8Array;
  idx: number;
}

/** A signed head of the log. */
export interface LogHeadRow {
  size: number;
  signed_at: number;
  /** The checkpoint with the lines of its witnesses. */
  note: string;
  /** The number of witnesses that cosigned it. */
  cosigned: number;
}

/** One row with the state of the log. */
export interface LogStateRow {
  one: 1;
  /** The origin of the first generation. */
  origin: string;
  /** POSIX seconds at which this generation began; 0 for the first. */
  generation: number;
  /** The incarnation of the database in which this generation began. */
  incarnation: number;
  /** 0 while AGENT_LOG is off: nothing is appended. */
  is_on: number;
  /** Everything since this time is in the log; later than any settlement of before it began. */
  began_at: number;
  /** 1 when every key that was bound before the log began has its entries. */
  keys_entered: number;
  /** The size of the newest head that had enough cosignatures. */
  published: number;
  /** The stored form of the seed that the log's keys derive from; null while it is the relay's own. */
  root_key: string | null;
}
