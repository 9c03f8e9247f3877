import type { Database } from "better-sqlite3";
import type { Statements } from "../queries/statements.ts";
import { toUnavailable } from "../storage.ts";
import { BatchRunner, type CommitUnit, type Mode } from "./batch-runner.ts";
import type { PendingJob } from "./pending-job.ts";
import { createTransactionQueue, type TransactionQueue } from "./transaction-queue.ts";
import { yieldToEventLoop } from "../yield-to-event-loop.ts";

/** A larger batch would block the event loop for too long. */
const MAX_BATCH_SIZE = 500;

/** A batch must not wait as long as transactions arrive, because they may never stop. */
const MAX_GATHERING_TURNS = 4;

export interface GroupCommit extends TransactionQueue {
  /** Runs `work` while no batch is open, so that it reads committed rows. */
  readonly runBetweenBatches: <T>(work: () => T) => Promise<T>;
}

/**
 * Transactions that arrive in one turn of the event loop share one commit and so one fsync; a batch waits
 * another turn while further ones arrive. They run one after another and are acknowledged after the commit.
 * Those that request it are decided in memory and written when all have ended. A savepoint copies every
 * page that its job touches, so the others first run without savepoints. If one of them must be rolled
 * back, all are, and the batch runs again with a savepoint for each.
 */
export function createGroupCommit(
  db: Database,
  statements: Statements,
  unit: CommitUnit,
): GroupCommit {
  const runner = new BatchRunner(db, statements, unit);
  const queue = createTransactionQueue(async (waiting) => {
    await gatherBatch(waiting);
    await runBatch(runner, waiting.splice(0, MAX_BATCH_SIZE));
  });
  return { ...queue, runBetweenBatches: (work) => runner.runBetweenBatches(work) };
}

async function gatherBatch(waiting: readonly PendingJob[]): Promise<void> {
  let known = 0;
  for (let turn = 0; turn < MAX_GATHERING_TURNS && waiting.length > known; turn += 1) {
    known = waiting.length;
    await yieldToEventLoop();
  }
}

async function runBatch(runner: BatchRunner, batch: readonly PendingJob[]): Promise<void> {
  try {
    // A batch of one needs no second pass, because rolling it back affects no other job.
    let mode: Mode = { isTogether: true, withSavepoints: batch.length === 1 };
    for (;;) {
      const pass = await runner.runPass(batch, mode);
      if (pass.kind === "done") {
        for (const acknowledge of pass.acknowledgements) acknowledge();
        return;
      }
      ({ mode } = pass);
    }
  } catch (cause) {
    const reason = toUnavailable(cause);
    for (const job of batch) job.reject(reason);
  }
}
