import { AsyncLocalStorage } from "node:async_hooks";
import type { Database } from "better-sqlite3";
import { BatchRows } from "./batch-rows.ts";
import { BatchTx } from "./batch-tx.ts";
import { JobTx } from "./job-tx.ts";
import { isOutage, getSqliteCode } from "../database/sqlite-error.ts";
import type { Statements } from "../queries/statements.ts";
import { StorageUnavailable, type Isolation, type Storage, type Tx } from "../storage.ts";

/** A larger batch would block the event loop for too long. */
const MAX_BATCH_SIZE = 500;

/** A batch must not wait as long as transactions arrive, because they may never stop. */
const MAX_GATHERING_TURNS = 4;

/** Each attempt waits 50 ms for another writer, for example a backup. */
const MAX_BEGIN_ATTEMPTS = 20;

interface PendingTransaction {
  readonly work: (tx: Tx) => Promise<unknown>;
  readonly isolation: Isolation | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** Settles the promise of a job after its batch was committed. */
interface TransactionOutcome {
  /** The job threw or answered with a refusal. */
  readonly isRefused: boolean;
  readonly acknowledge: () => void;
  readonly error?: unknown;
}

/** The way in which the jobs of a batch run. */
interface Mode {
  /** Whether jobs are decided in memory if they ask for it. */
  readonly isTogether: boolean;
  /** Whether each of the jobs that run first, statement by statement, can be rolled back alone. */
  readonly withSavepoints: boolean;
}

/** The end of a pass: its jobs are settled after the commit, or all of them run again. */
type Pass =
  | { readonly kind: "done"; readonly acknowledgements: readonly (() => void)[] }
  | { readonly kind: "again"; readonly mode: Mode };

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
 * the commit. Those that ask for it are decided in memory and written when all have ended. A savepoint
 * copies every page that its job touches, so the others first run without. If one of them must be rolled
 * back, all are, and the batch runs again with a savepoint for each.
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
  const rows = new BatchRows(db, statements);
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
      let mode: Mode = { isTogether: true, withSavepoints: batch.length === 1 };
      for (;;) {
        const pass = await runPass(batch, mode);
        if (pass.kind === "done") {
          for (const acknowledge of pass.acknowledgements) acknowledge();
          return;
        }
        ({ mode } = pass);
      }
    } catch (cause) {
      for (const job of batch) job.reject(toUnavailable(cause));
    } finally {
      clearImmediate(stallTimer);
    }
  }

  /** Runs a batch in one transaction, from its beginning to its commit or rollback. */
  async function runPass(batch: readonly PendingTransaction[], mode: Mode): Promise<Pass> {
    await begin();
    const { promise, resolve: close } = Promise.withResolvers<void>();
    openBatch = promise;
    try {
      const pass = await runJobs(batch, mode);
      if (pass.kind === "done") unit.commit();
      else unit.rollback();
      if (pass.kind === "done") statements.changes.publish();
      return pass;
    } catch (error) {
      unit.rollback();
      throw error;
    } finally {
      rows.clear();
      openBatch = undefined;
      close();
    }
  }

  /**
   * Those that are decided in memory come last, because a client may report its progress and, without
   * waiting for an answer, its result. Jobs behind them have savepoints, because rolling back the batch
   * for one that is refused would let its sender make all the others run again.
   */
  async function runJobs(batch: readonly PendingTransaction[], mode: Mode): Promise<Pass> {
    const isAble = ({ isolation }: PendingTransaction) =>
      mode.isTogether && isolation === "together";
    const others = batch.filter((job) => !isAble(job));
    const first = await (mode.withSavepoints ? runWithSavepoints : runWithoutSavepoints)(others);
    if (first === undefined) return { kind: "again", mode: { ...mode, withSavepoints: true } };
    const { acknowledgements, rest } = await decide(batch.filter(isAble));
    try {
      rows.write();
    } catch (error) {
      if (isOutage(error) || !db.inTransaction) throw error;
      // One of them has a fault that only the database has found; the others must not suffer from it.
      return { kind: "again", mode: { isTogether: false, withSavepoints: true } };
    }
    const last = await runWithSavepoints(rest);
    return { kind: "done", acknowledgements: [...first, ...acknowledgements, ...last] };
  }

  /** Runs jobs in memory; `rest` are those that must run statement by statement. */
  async function decide(jobs: readonly PendingTransaction[]) {
    const acknowledgements: (() => void)[] = [];
    const rest: PendingTransaction[] = [];
    for (const job of jobs) {
      const tx = new BatchTx(rows, statements);
      const { isRefused, acknowledge, error } = await runJob(job, tx);
      if (!db.inTransaction) throw error ?? new Error("the transaction was rolled back");
      if (tx.isStopped) rest.push(job);
      else acknowledgements.push(acknowledge);
      if (tx.isStopped || isRefused) rows.undoJob();
      else rows.keepJob();
    }
    return { acknowledgements, rest };
  }

  /**
   * Runs jobs statement by statement and returns how to settle each; undefined once one must be rolled
   * back.
   */
  async function runWithoutSavepoints(
    jobs: readonly PendingTransaction[],
  ): Promise<(() => void)[] | undefined> {
    const acknowledgements: (() => void)[] = [];
    for (const job of jobs) {
      const { acknowledge, mustRollBack } = await runStatements(job);
      if (mustRollBack) return undefined;
      acknowledgements.push(acknowledge);
    }
    return acknowledgements;
  }

  /** Does the same with a savepoint for each job, so that one is rolled back alone. */
  async function runWithSavepoints(jobs: readonly PendingTransaction[]): Promise<(() => void)[]> {
    const acknowledgements: (() => void)[] = [];
    for (const job of jobs) {
      savepoint.begin.run();
      const { acknowledge, mustRollBack } = await runStatements(job);
      if (mustRollBack) savepoint.undo.run();
      savepoint.release.run();
      acknowledgements.push(acknowledge);
    }
    return acknowledgements;
  }

  /** Runs a job statement by statement. It must be rolled back if it is refused and has written. */
  async function runStatements(job: PendingTransaction) {
    const before = statements.writes;
    const { isRefused, acknowledge, error } = await runJob(job, new JobTx(db, statements));
    // After a full disk or an I/O error SQLite has already rolled back the transaction.
    if (!db.inTransaction) throw error ?? new Error("the transaction was rolled back");
    return { acknowledge, mustRollBack: isRefused && statements.writes !== before };
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

  async function runJob(
    { work, resolve, reject }: PendingTransaction,
    tx: JobTx | BatchTx,
  ): Promise<TransactionOutcome> {
    try {
      const value = await new Promise<unknown>((ok, no) => {
        rejectStalled = no;
        work(tx).then(ok, no);
        void tx.stopped?.then(ok);
      });
      return { isRefused: isRefusal(value), acknowledge: () => resolve(value) };
    } catch (error) {
      const reason = isOutage(error) ? toUnavailable(error) : error;
      return { isRefused: true, acknowledge: () => reject(reason), error };
    } finally {
      tx.end();
      rejectStalled = undefined;
    }
  }

  // A batch belongs to no request, so it must not run in the context of the one that started it.
  const drainWithoutContext = AsyncLocalStorage.bind(drain);

  return {
    transaction: <T>(work: (tx: Tx) => Promise<T>, isolation?: Isolation) =>
      new Promise<T>((resolve, reject) => {
        if (closed) return reject(new StorageUnavailable("the storage is closed"));
        waiting.push({ work, isolation, resolve: resolve as (value: unknown) => void, reject });
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
