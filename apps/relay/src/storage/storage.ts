import { formatError } from "@agent/crypto";
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

/**
 * Something that other processes on the database must read again or do, with the words of its key. A key
 * without words concerns all.
 */
export type ChangeKind =
  /** Facts from which agents are ranked: the agent. */
  | "agents"
  /** Tokens that end: the agent and, if only one device's end, the device. */
  | "tokens"
  /** Webhooks: their agent. */
  | "webhooks"
  /** The trust of one agent in another: both agents. */
  | "trust"
  /** Devices that connected or left: their agent. */
  | "presence"
  /** A relay that is a peer no longer, or is one again: the relay. */
  | "peer"
  /** A task for devices of another process: the task. */
  | "offer"
  /** A task that ended without a receipt: the task and its executor. */
  | "ended"
  /** A cancel of a claimed task: the task, its executor and the claimant. */
  | "cancel"
  /** An inspection that changed: its task, and `state` if its parties must be notified of a new state. */
  | "inspection"
  /** A session of the operator's pages that ended: the session. */
  | "session";

export interface Tx extends Reader {
  /**
   * True in a run that only finds out what the work reads: nothing that it writes is kept, so it may skip
   * building expensive values.
   */
  readonly isDryRun?: boolean;
  /** Returns the number of changed rows. A statement with RETURNING must use `get` or `all`. */
  run<P>(query: Query<P, never>, params: NoInfer<P>): Promise<number>;
  /**
   * Announces a change to the other processes if the transaction commits; without other processes it costs
   * nothing. A change that was rolled back may be announced too.
   */
  noteChange(kind: ChangeKind, ...words: readonly string[]): void;
}

/**
 * Isolates a transaction from those of other connections. `serializable` is run again after a conflict.
 * `locked` waits instead; it is for work whose every decision is a condition of its own statements or is
 * made on rows that it has locked, and is run again only if another transaction took a key first.
 * `together` is as strict as `serializable`; it is for work that many clients request at once and whose
 * statements have a row form. Such work is decided in memory with others of its kind, so it may run several
 * times.
 */
export type Isolation = "serializable" | "locked" | "together";

/**
 * Short messages to the other processes on the database. Any message may be lost, so every change is also
 * found by polling the database.
 */
export interface Hints {
  /** Connects while there are other processes, also when an earlier connection has ended or gone silent. */
  keepOpen(hasOthers: boolean): void;
  /** Whether there are other processes and hints are neither sent nor heard. */
  isMissing(): boolean;
  /** Tells within a few milliseconds that a task has changed. */
  sendTask(taskId: string): void;
  /** Calls the listeners for the hints of other processes. */
  listen(listeners: HintListeners): void;
}

export interface HintListeners {
  /** Another process has committed changes that this one must read soon. */
  readonly onChanges: () => void;
  readonly onTask: (taskId: string) => void;
}

export interface Storage {
  /** Whether other processes may use the database at the same time. */
  readonly isShared: boolean;
  /** Marks the changes that this storage notes; others have other marks. */
  readonly origin: string;
  /**
   * Runs one statement as its own transaction, ahead of waiting ones, even while the relay is frozen.
   * Rejects if the database is not shared, because nothing needs it then.
   */
  readonly runAlone: Reader["get"];
  /** Does nothing where the database is not shared. */
  readonly hints: Hints;
  /**
   * Runs single statements on connections that no request uses, also while all others are in use. For the few
   * and short ones by which a process shows that it is alive; one that writes is a transaction of its own.
   */
  readonly reserved: Reader;
  /** Must not be used inside a transaction, where it would miss its writes or wait for itself. */
  readonly read: Reader;
  /**
   * Runs `work` and resolves when its writes are durable. Work that throws or returns `{ok: false}`
   * is rolled back. It may run several times, so it must change nothing except through its `tx`. It must not
   * await anything else: no other transaction, timer or signature; otherwise it is rolled back and
   * rejected. Rejects with `StorageUnavailable` if the database itself failed; its writes may then be
   * durable or not. SQLite has one process, so of the isolations it only knows `together`.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, isolation?: Isolation): Promise<T>;
  /**
   * Calls `listener` after each commit that changed rows from which an agent's ranking is computed, before
   * the commit is acknowledged. It may be called for a change that was rolled back.
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

/** The parts of a storage whose database has no other process. */
export const unsharedStorage: Pick<Storage, "isShared" | "origin" | "runAlone" | "hints"> = {
  isShared: false,
  origin: "",
  hints: { keepOpen() {}, isMissing: () => false, sendTask() {}, listen() {} },
  runAlone: () => Promise.reject(new Error("the database is not shared")),
};

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

/** The log shows only the message, so it must state the cause: a full disk, or a server that is gone. */
export function toUnavailable(cause: unknown): StorageUnavailable {
  return new StorageUnavailable(`the database could not write: ${formatError(cause)}`, { cause });
}
