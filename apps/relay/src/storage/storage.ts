import type { Query } from "./queries/compiled-query.ts";

export type { Query };

/**
 * Reads committed rows; a `Tx` also reads the writes of its own transaction. Rejects with
 * `StorageUnavailable` if the database itself failed.
 */
export interface Reader {
  get<P, Row>(query: Query<P, Row>, params: NoInfer<P>): Promise<Row | undefined>;
  all<P, Row>(query: Query<P, Row>, params: NoInfer<P>): Promise<Row[]>;
}

export interface Tx extends Reader {
  /** Returns the number of changed rows. A statement with RETURNING must use `get` or `all`. */
  run<P>(query: Query<P, never>, params: NoInfer<P>): Promise<number>;
}

export interface Storage {
  /** Must not be used inside a transaction, where it would miss its writes or wait for itself. */
  readonly read: Reader;
  /**
   * Runs `work` and resolves when its writes are durable. Work that throws or returns `{ok: false}`
   * is rolled back. It may run twice, so it must change nothing except through its `tx`. It must not
   * await anything else: no other transaction, timer or signature; otherwise it is rolled back and
   * rejected. Rejects with `StorageUnavailable` if the database itself failed.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Reads one snapshot while other transactions write, and yields to the event loop between
   * statements. `work` must await only its reader. In memory it is a transaction that does not yield.
   */
  snapshot<T>(work: (read: Reader) => Promise<T>): Promise<T>;
  /** Removes replaced data of committed transactions from the files, so that no secret remains. */
  scrub(): Promise<void>;
  /** Finishes the transactions accepted so far; later calls are rejected. */
  close(): Promise<void>;
}

/** A transaction was refused because the relay is frozen. */
export class StorageFrozen extends Error {
  override readonly name = "StorageFrozen";
}

/** The disk is full, another program locks the database or the storage is closed: no bug of the relay. */
export class StorageUnavailable extends Error {
  override readonly name = "StorageUnavailable";
}
