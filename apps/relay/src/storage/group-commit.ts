import type { Database } from "better-sqlite3";
import { JobTx } from "./job-tx.ts";
import { isOutage, sqliteCode } from "./sqlite-error.ts";
import type { Statements } from "./statements.ts";
import { StorageUnavailable, type Storage, type Tx } from "./storage.ts";

/** More than this would keep the event loop from its other work for too long. */
const maxBatch = 500;

/** Each try waits 50 ms for a writer from outside, a backup for example. */
const beginTries = 20;

interface Job {
  readonly work: (tx: Tx) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

export interface GroupCommit {
  readonly transaction: Storage["transaction"];
  /** Resolves when no batch is open: what is read then, at once, is committed. */
  readonly settled: () => Promise<void>;
  /** Finishes what was accepted and refuses the rest. */
  readonly close: () => Promise<void>;
}

/**
 * Transactions that arrive in one turn of the event loop share one commit, and so one fsync. They run
 * strictly one after another, each in a savepoint of its own, and are acknowledged after the commit.
 */
export function createGroupCommit(db: Database, statements: Statements): GroupCommit {
  const control = {
    begin: db.prepare("BEGIN IMMEDIATE"),
    commit: db.prepare("COMMIT"),
    rollback: db.prepare("ROLLBACK"),
    savepoint: db.prepare("SAVEPOINT job"),
    release: db.prepare("RELEASE job"),
    rollbackJob: db.prepare("ROLLBACK TO job"),
  };
  const waiting: Job[] = [];
  let draining: Promise<void> | undefined;
  let running: Promise<void> | undefined;
  let closed = false;
  let expel: ((reason: Error) => void) | undefined;

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      await nextTurn();
      running = runBatch(waiting.splice(0, maxBatch));
      await running;
      running = undefined;
    }
    draining = undefined;
  }

  async function runBatch(batch: readonly Job[]): Promise<void> {
    // A job that awaits only its tx goes on in microtasks, so none is still running in the next turn.
    let alarm = setImmediate(ring);
    function ring(): void {
      expel?.(new Error("a transaction awaited something other than its tx"));
      alarm = setImmediate(ring);
    }
    try {
      await begin();
      const acknowledge: (() => void)[] = [];
      for (const job of batch) acknowledge.push(await runJob(job));
      control.commit.run();
      for (const settle of acknowledge) settle();
    } catch (cause) {
      for (const job of batch) job.reject(lost(cause));
      if (db.inTransaction) control.rollback.run();
    } finally {
      clearImmediate(alarm);
    }
  }

  async function begin(): Promise<void> {
    for (let left = beginTries; ; left--) {
      try {
        control.begin.run();
        return;
      } catch (error) {
        if (left === 1 || sqliteCode(error) !== "SQLITE_BUSY") throw error;
        await nextTurn();
      }
    }
  }

  /** Answers how to acknowledge the job after the commit; throws when the whole batch is lost. */
  async function runJob({ work, resolve, reject }: Job): Promise<() => void> {
    control.savepoint.run();
    const tx = new JobTx(db, statements);
    try {
      const value = await new Promise<unknown>((ok, no) => {
        expel = no;
        work(tx).then(ok, no);
      });
      end(tx);
      if (isRefusal(value)) control.rollbackJob.run();
      control.release.run();
      return () => resolve(value);
    } catch (error) {
      end(tx);
      // After a full disk or an I/O error SQLite has rolled back everything by itself.
      if (!db.inTransaction) throw error;
      control.rollbackJob.run();
      control.release.run();
      return () => reject(isOutage(error) ? lost(error) : error);
    }
  }

  function end(tx: JobTx): void {
    tx.end();
    expel = undefined;
  }

  return {
    transaction: <T>(work: (tx: Tx) => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        if (closed) return reject(new StorageUnavailable("the storage is closed"));
        waiting.push({ work, resolve: resolve as (value: unknown) => void, reject });
        draining ??= drain();
      }),

    async settled() {
      while (running !== undefined) await running;
    },

    async close() {
      closed = true;
      await draining;
    },
  };
}

function isRefusal(value: unknown): boolean {
  return typeof value === "object" && value !== null && "ok" in value && value.ok === false;
}

function lost(cause: unknown): StorageUnavailable {
  return new StorageUnavailable("the database could not write", { cause });
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
