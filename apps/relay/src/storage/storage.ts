import type { Query } from "./queries/compiled-query.ts";
import type { ChangeListener } from "./writing/agent-changes.ts";

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

/**
 * Keeps a transaction apart from those of other connections. `serializable` is run again when it met
 * one. `locked` waits instead, and is for work whose every decision is a condition of its own statements
 * or is made on rows that it locked before; it is run again only when another took a key first.
 */
export type Isolation = "serializable" | "locked";

export interface Storage {
  /** Must not be used inside a transaction, where it would miss its writes or wait for itself. */
  readonly read: Reader;
  /**
   * Runs `work` and resolves when its writes are durable. Work that throws or returns `{ok: false}`
   * is rolled back. It may run twice, so it must change nothing except through its `tx`. It must not
   * await anything else: no other transaction, timer or signature; otherwise it is rolled back and
   * rejected. Rejects with `StorageUnavailable` if the database itself failed; its writes may then be
   * durable or not. SQLite has one process and needs no isolation.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, isolation?: Isolation): Promise<T>;
  /**
   * Calls `listener` after each commit that changed rows from which an agent's place in rankings is
   * computed, and before the commit is acknowledged. It may name agents whose change was rolled back.
   */
  onAgentsChanged(listener: ChangeListener): void;
  /**
   * Reads one snapshot while other transactions write, and yields to the event loop between
   * statements. `work` must await only its reader. In memory it is a transaction that does not yield.
   */
  snapshot<T>(work: (read: Reader) => Promise<T>): Promise<T>;
  /**
   * Removes replaced data of committed transactions from the files, so that no secret remains. False if it
   * must be tried again, because another program reads the database.
   */
  scrub(): Promise<boolean>;
  /** Finishes the transactions accepted so far; later calls are rejected. */
  close(): Promise<void>;
}

/** A transaction was refused because the relay is frozen. */
export class StorageFrozen extends Error {
  override readonly name = "StorageFrozen";
  /** The reason that the operator, or the relay itself, has given. */
  readonly reason: string;
  constructor(reason: string) {
    super(`the relay is frozen: ${reason}`);
    this.reason = reason;
  }
}

/** A transaction met another one that a lock did not keep apart. It is run again. */
export class TransactionConflict extends Error {
  override readonly name = "TransactionConflict";
}

/** The disk is full, another program locks the database or the storage is closed: no bug of the relay. */
export class StorageUnavailable extends Error {
  override readonly name = "StorageUnavailable";
}
