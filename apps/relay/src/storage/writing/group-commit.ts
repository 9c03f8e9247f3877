import { AsyncLocalStorage } from "node:async_hooks";
import type { Database } from "better-sqlite3";
import { JobTx } from "./job-tx.ts";
import { isOutage, getSqliteCode } from "../database/sqlite-error.ts";
import type { Statements } from "../queries/statements.ts";
import { StorageUnavailable, type Storage, type Tx } from "../storage.ts";

/** A larger batch would block the event loop for too long. */
const MAX_BATCH_SIZE = 500;

/** A batch must not wait as long as transactions arrive, because they may never stop. */
const MAX_GATHERING_TURNS = 4;

/** Each attempt waits 50 ms for another writer, for example a backup. */
const MAX_BEGIN_ATTEMPTS = 20;

interface PendingTransaction {
  readonly work: (tx: Tx) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** Settles the promise of a job after its batch was committed. */
interface TransactionOutcome {
  readonly mustRollBack: boolean;
  readonly acknowledge: () => void;
  readonly error?: unknown;
}

export interface GroupCommit {
  readonly transaction: Storage["transaction"];
  /** Runs `work` while no batch is open, so that it reads committed rows. */
  readonly runBetweenBatches: <T>(work: () => T) => Promise<T>;
  /** Finishes accepted jobs and refuses later ones. */
  readonly close: () => Promise<void>;
}

/** Commits or rolls back the writes of a batch as a whole. */
export interface CommitUnit {
  readonly begin: () => void;
  readonly commit: () => void;
  readonly rollback: () => void;
}

/**
 * Transactions that arrive in one turn of the event loop share one commit and so one fsync; a batch
 * waits another turn while further ones arrive. They run one after another and are acknowledged after
 * the commit. A savepoint copies every page that its job touches, so a batch first runs without. If one
 * job must be rolled back, all are, and the batch runs again with a savepoint for each.
 */
export function createGroupCommit(
  db: Database,
  statements: Statements,
  unit: CommitUnit,
): GroupCommit {
  const savepoint = {
    begin: db.prepare("SAVEPOINT job"),
    release: db.prepare("RELEASE job"),
    undo: db.prepare("ROLLBACK TO job"),
  };
  const waiting: PendingTransaction[] = [];
  let draining: Promise<void> | undefined;
  let openBatch: Promise<void> | undefined;
  let closed = false;
  let rejectStalled: ((reason: Error) => void) | undefined;

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      await gatherBatch();
      await runBatch(waiting.splice(0, MAX_BATCH_SIZE));
    }
    draining = undefined;
  }

  async function gatherBatch(): Promise<void> {
    let known = 0;
    for (let turn = 0; turn < MAX_GATHERING_TURNS && waiting.length > known; turn += 1) {
      known = waiting.length;
      await yieldToEventLoop();
    }
  }

  async function runBatch(batch: readonly PendingTransaction[]): Promise<void> {
    // A job that awaits only its tx continues in microtasks, so none is running in the next turn.
    let stallTimer = setImmediate(reportStalled);
    function reportStalled(): void {
      rejectStalled?.(new Error("a transaction awaited something other than its tx"));
      stallTimer = setImmediate(reportStalled);
    }
    try {
      // A batch of one needs no second pass, because rolling it back affects no other job.
      const firstPass =
        batch.length > 1 ? await runJobs(batch, { withSavepoints: false }) : undefined;
      const done = firstPass ?? (await runJobs(batch, { withSavepoints: true })) ?? [];
      for (const acknowledge of done) acknowledge();
    } catch (cause) {
      for (const job of batch) job.reject(toUnavailable(cause));
    } finally {
      clearImmediate(stallTimer);
    }
  }

  /** Returns how to settle each job; undefined if one failed and all were rolled back. */
  async function runJobs(
    batch: readonly PendingTransaction[],
    { withSavepoints }: { withSavepoints: boolean },
  ): Promise<(() => void)[] | undefined> {
    await begin();
    const { promise, resolve: close } = Promise.withResolvers<void>();
    openBatch = promise;
    try {
      const acknowledgements: (() => void)[] = [];
      for (const job of batch) {
        if (withSavepoints) savepoint.begin.run();
        const { mustRollBack, acknowledge, error } = await runJob(job);
        // After a full disk or an I/O error SQLite has already rolled back the transaction.
        if (!db.inTransaction) throw error ?? new Error("the transaction was rolled back");
        if (mustRollBack && !withSavepoints) {
          unit.rollback();
          return undefined;
        }
        if (mustRollBack) savepoint.undo.run();
        if (withSavepoints) savepoint.release.run();
        acknowledgements.push(acknowledge);
      }
      unit.commit();
      statements.changes.publish();
      return acknowledgements;
    } catch (error) {
      unit.rollback();
      throw error;
    } finally {
      openBatch = undefined;
      close();
    }
  }

  async function begin(): Promise<void> {
    for (let left = MAX_BEGIN_ATTEMPTS; ; left--) {
      try {
        unit.begin();
        return;
      } catch (error) {
        if (left === 1 || getSqliteCode(error) !== "SQLITE_BUSY") throw error;
        await yieldToEventLoop();
      }
    }
  }

  async function runJob({
    work,
    resolve,
    reject,
  }: PendingTransaction): Promise<TransactionOutcome> {
    const tx = new JobTx(db, statements);
    const before = statements.writes;
    const hasWritten = () => statements.writes !== before;
    try {
      const value = await new Promise<unknown>((ok, no) => {
        rejectStalled = no;
        work(tx).then(ok, no);
      });
      return { mustRollBack: isRefusal(value) && hasWritten(), acknowledge: () => resolve(value) };
    } catch (error) {
      const reason = isOutage(error) ? toUnavailable(error) : error;
      return { mustRollBack: hasWritten(), acknowledge: () => reject(reason), error };
    } finally {
      tx.end();
      rejectStalled = undefined;
    }
  }

  // A batch belongs to no request, so it must not run in the context of the one that started it.
  const drainWithoutContext = AsyncLocalStorage.bind(drain);

  return {
    transaction: <T>(work: (tx: Tx) => Promise<T>) =>
      new Promise<T>((resolve, reject) => {
        if (closed) return reject(new StorageUnavailable("the storage is closed"));
        waiting.push({ work, resolve: resolve as (value: unknown) => void, reject });
        draining ??= drainWithoutContext();
      }),

    async runBetweenBatches(work) {
      while (openBatch !== undefined) await openBatch;
      return work();
    },

    async close() {
      closed = true;
      await draining;
    },
  };
}

/** Whether a job answered with a refusal, which rolls it back. */
export function isRefusal(value: unknown): boolean {
  return typeof value === "object" && value !== null && "ok" in value && value.ok === false;
}

function toUnavailable(cause: unknown): StorageUnavailable {
  return new StorageUnavailable("the database could not write", { cause });
}

/** Resolves in the next turn of the event loop. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
