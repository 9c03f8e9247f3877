import type { Database } from "better-sqlite3";
import { isOutage, getSqliteCode } from "../database/sqlite-error.ts";
import type { Statements } from "../queries/statements.ts";
import { toUnavailable } from "../storage.ts";
import { BatchRows } from "./batch-rows.ts";
import { BatchTx } from "./batch-tx.ts";
import { JobTx } from "./job-tx.ts";
import { isRefusal, type PendingJob } from "./pending-job.ts";
import { yieldToEventLoop } from "../yield-to-event-loop.ts";

/** Each attempt waits 50 ms for another writer, for example a backup. */
const MAX_BEGIN_ATTEMPTS = 20;

/** Commits or rolls back the writes of a batch as a whole. */
export interface CommitUnit {
  readonly begin: () => void;
  readonly commit: () => void;
  readonly rollback: () => void;
}

/** The way in which the jobs of a batch run. */
export interface Mode {
  /** Whether jobs are decided in memory if they ask for it. */
  readonly isTogether: boolean;
  /** Whether each of those that run first, statement by statement, can be rolled back alone. */
  readonly withSavepoints: boolean;
}

type Settle = () => void;

/** The end of a pass: its jobs are settled after the commit, or all of them run again. */
export type Pass =
  | { readonly kind: "done"; readonly acknowledgements: readonly Settle[] }
  | { readonly kind: "again"; readonly mode: Mode };

/** The end of one job, to be acknowledged after its batch was committed. */
interface Outcome {
  /** The job threw or answered with a refusal. */
  readonly isRefused: boolean;
  readonly acknowledge: Settle;
  readonly error?: unknown;
}

/** Runs batches of jobs on one connection, one batch after another. */
export class BatchRunner {
  readonly #db: Database;
  readonly #statements: Statements;
  readonly #unit: CommitUnit;
  readonly #rows: BatchRows;
  readonly #savepoint;
  #openBatch: Promise<void> | undefined;
  #rejectStalled: ((reason: Error) => void) | undefined;

  constructor(db: Database, statements: Statements, unit: CommitUnit) {
    this.#db = db;
    this.#statements = statements;
    this.#unit = unit;
    this.#rows = new BatchRows(db, statements);
    this.#savepoint = {
      begin: db.prepare("SAVEPOINT job"),
      release: db.prepare("RELEASE job"),
      undo: db.prepare("ROLLBACK TO job"),
    };
  }

  /** Runs `work` while no batch is open, so that it reads committed rows. */
  async runBetweenBatches<T>(work: () => T): Promise<T> {
    while (this.#openBatch !== undefined) await this.#openBatch;
    return work();
  }

  /** Runs a batch in one transaction, from its beginning to its commit or rollback. */
  async runPass(batch: readonly PendingJob[], mode: Mode): Promise<Pass> {
    await this.#begin();
    const { promise, resolve: close } = Promise.withResolvers<void>();
    this.#openBatch = promise;
    const stopTimer = this.#rejectWhenStalled();
    try {
      const pass = await this.#runAll(batch, mode);
      if (pass.kind === "done") this.#unit.commit();
      else this.#unit.rollback();
      if (pass.kind === "done") this.#statements.changes.publish();
      return pass;
    } catch (error) {
      this.#unit.rollback();
      throw error;
    } finally {
      stopTimer();
      this.#rows.clear();
      this.#openBatch = undefined;
      close();
    }
  }

  async #begin(): Promise<void> {
    for (let left = MAX_BEGIN_ATTEMPTS; ; left--) {
      try {
        this.#unit.begin();
        return;
      } catch (error) {
        if (left === 1 || getSqliteCode(error) !== "SQLITE_BUSY") throw error;
        await yieldToEventLoop();
      }
    }
  }

  /** A job that awaits only its tx continues in microtasks, so none is running in the next turn. */
  #rejectWhenStalled(): () => void {
    const report = () => {
      this.#rejectStalled?.(new Error("a transaction awaited something other than its tx"));
      timer = setImmediate(report);
    };
    let timer = setImmediate(report);
    return () => clearImmediate(timer);
  }

  /**
   * Jobs that are decided in memory come last, because a client may report its progress and, without
   * waiting for an answer, its result. Jobs after them have savepoints, because rolling back the batch for
   * a refused job would let its sender make all others run again.
   */
  async #runAll(batch: readonly PendingJob[], mode: Mode): Promise<Pass> {
    const isAble = ({ isolation }: PendingJob) => mode.isTogether && isolation === "together";
    const others = batch.filter((job) => !isAble(job));
    const first = mode.withSavepoints
      ? await this.#runWithSavepoints(others)
      : await this.#runWithoutSavepoints(others);
    if (first === undefined) return { kind: "again", mode: { ...mode, withSavepoints: true } };
    const { acknowledgements, rest } = await this.#decide(batch.filter(isAble));
    try {
      this.#rows.write();
    } catch (error) {
      if (isOutage(error) || !this.#db.inTransaction) throw error;
      // One of them has a fault that only the database has found; the others must not suffer from it.
      return { kind: "again", mode: { isTogether: false, withSavepoints: true } };
    }
    const last = await this.#runWithSavepoints(rest);
    return { kind: "done", acknowledgements: [...first, ...acknowledgements, ...last] };
  }

  /** Runs jobs in memory; `rest` are those that must run statement by statement. */
  async #decide(jobs: readonly PendingJob[]) {
    const acknowledgements: Settle[] = [];
    const rest: PendingJob[] = [];
    for (const job of jobs) {
      const tx = new BatchTx(this.#rows, this.#statements);
      const { isRefused, acknowledge, error } = await this.#run(job, tx);
      this.#checkOpen(error);
      if (tx.isStopped) rest.push(job);
      else acknowledgements.push(acknowledge);
      if (tx.isStopped || isRefused) this.#rows.undoJob();
      else this.#rows.keepJob();
    }
    return { acknowledgements, rest };
  }

  /**
   * Runs jobs statement by statement and returns how to settle each; undefined once one must be
   * rolled back.
   */
  async #runWithoutSavepoints(jobs: readonly PendingJob[]): Promise<Settle[] | undefined> {
    const acknowledgements: Settle[] = [];
    for (const job of jobs) {
      const { acknowledge, mustRollBack } = await this.#runStatements(job);
      if (mustRollBack) return undefined;
      acknowledgements.push(acknowledge);
    }
    return acknowledgements;
  }

  /** Does the same with a savepoint for each job, so that one is rolled back alone. */
  async #runWithSavepoints(jobs: readonly PendingJob[]): Promise<Settle[]> {
    const acknowledgements: Settle[] = [];
    for (const job of jobs) {
      this.#savepoint.begin.run();
      const { acknowledge, mustRollBack } = await this.#runStatements(job);
      if (mustRollBack) this.#savepoint.undo.run();
      this.#savepoint.release.run();
      acknowledgements.push(acknowledge);
    }
    return acknowledgements;
  }

  /** Runs a job statement by statement. It must be rolled back if it is refused and has written. */
  async #runStatements(job: PendingJob) {
    const before = this.#statements.writes;
    const tx = new JobTx(this.#db, this.#statements);
    const { isRefused, acknowledge, error } = await this.#run(job, tx);
    this.#checkOpen(error);
    return { acknowledge, mustRollBack: isRefused && this.#statements.writes !== before };
  }

  /** After a full disk or an I/O error SQLite has already rolled back the transaction. */
  #checkOpen(error: unknown): void {
    if (!this.#db.inTransaction) throw error ?? new Error("the transaction was rolled back");
  }

  async #run({ work, resolve, reject }: PendingJob, tx: JobTx | BatchTx): Promise<Outcome> {
    try {
      const value = await new Promise<unknown>((ok, no) => {
        this.#rejectStalled = no;
        work(tx).then(ok, no);
        void tx.stopped?.then(ok);
      });
      return { isRefused: isRefusal(value), acknowledge: () => resolve(value) };
    } catch (error) {
      const reason = isOutage(error) ? toUnavailable(error) : error;
      return { isRefused: true, acknowledge: () => reject(reason), error };
    } finally {
      tx.end();
      this.#rejectStalled = undefined;
    }
  }
}
