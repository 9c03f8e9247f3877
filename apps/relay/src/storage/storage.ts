import type { Query } from "./queries/compiled-query.ts";

export type { Query };

/**
 * Reads what is committed; a `Tx` also sees what its own transaction has written. Rejects with
 * `StorageUnavailable` when the database itself failed.
 */
export interface Reader {
  get<P, Row>(query: Query<P, Row>, params: NoInfer<P>): Promise<Row | undefined>;
  all<P, Row>(query: Query<P, Row>, params: NoInfer<P>): Promise<Row[]>;
}

export interface Tx extends Reader {
  /** The number of rows changed. A statement with RETURNING goes through `get` or `all`. */
  run<P>(query: Query<P, never>, params: NoInfer<P>): Promise<number>;
}

export interface Storage {
  /** Never inside a transaction: there it would miss what was just written, or wait for itself. */
  readonly read: Reader;
  /**
   * Runs `work` and resolves once what it wrote is durable. Work that throws, or answers
   * `{ok: false}`, leaves nothing behind. It may run twice, so it changes nothing but through its
   * `tx`. It awaits nothing else either: no other transaction, no timer, no signature; what waits for
   * anything else is rolled back and rejected.
   * Rejects with `StorageUnavailable` when the database itself failed.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Reads as of one moment while others go on writing, in steps between which the event loop has a
   * turn. `work` awaits nothing but its reader. In memory it is a transaction without such turns.
   */
  snapshot<T>(work: (read: Reader) => Promise<T>): Promise<T>;
  /** Takes out of the files what a committed transaction has replaced: a secret leaves no trace. */
  scrub(): Promise<void>;
  /** Finishes the transactions accepted so far; later calls are rejected. */
  close(): Promise<void>;
}

/** A transaction came while the operator holds the relay still. */
export class StorageFrozen extends Error {
  override readonly name = "StorageFrozen";
}

/** The disk is full, the database is locked from outside, the storage is closed: not a bug of ours. */
export class StorageUnavailable extends Error {
  override readonly name = "StorageUnavailable";
}
