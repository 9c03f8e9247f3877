import { toUnavailable } from "../storage.ts";
import { AgentChanges, type ChangeListener } from "../writing/agent-changes.ts";
import type { PendingJob } from "../writing/pending-job.ts";
import { createTransactionQueue, type TransactionQueue } from "../writing/transaction-queue.ts";
import { isOfOneLevel, runPass, type Mode, type OtherProcesses } from "./run-pass.ts";
import { createColumnTypes } from "./together/write-rows.ts";
import type { WritingConnection } from "./writing-connection.ts";
import { yieldToEventLoop } from "../yield-to-event-loop.ts";

/** A larger batch would let the first of its jobs, and other processes, wait for too long. */
const MAX_BATCH_SIZE = 256;

const MAX_CONFLICTS = 20;

/** A key that is still taken after so many conflicts was taken by the job's own fault. */
const MAX_KEY_CONFLICTS = 3;

export interface PostgresGroupCommit extends TransactionQueue {
  readonly onAgentsChanged: (listener: ChangeListener) => void;
}

/**
 * Runs transactions one after another on the writing connection. Those that wait share one commit, and so
 * one write of the server's log. As on SQLite, a batch first runs without savepoints, and again with them
 * if one job must be undone. A batch whose commit may or may not have succeeded never runs again.
 */
export function createPostgresGroupCommit(
  connection: WritingConnection,
  others?: OtherProcesses,
): PostgresGroupCommit {
  const changes = new AgentChanges();
  const findTypes = createColumnTypes();

  async function runBatch(batch: readonly PendingJob[]): Promise<void> {
    try {
      let mode: Mode = { isTogether: true, undo: "batch" };
      for (let conflicts = 0; ;) {
        const mayRepeat = conflicts < MAX_KEY_CONFLICTS;
        const pass = await runPass(
          { connection, changes, findTypes, others, mayRepeat },
          batch,
          mode,
        );
        if ("acknowledgements" in pass) {
          changes.publish();
          for (const acknowledge of pass.acknowledgements) acknowledge();
          return;
        }
        if (pass.kind === "again") mode = pass.mode;
        else if (++conflicts === MAX_CONFLICTS) throw pass.error;
        else await yieldToEventLoop();
      }
    } catch (cause) {
      // The commit may be durable, although its answer was lost.
      changes.publish();
      const reason = toUnavailable(cause);
      for (const job of batch) job.reject(reason);
    }
  }

  const queue = createTransactionQueue(async (waiting) => {
    await yieldToEventLoop();
    await runBatch(waiting.splice(0, countOfOneLevel(waiting)));
  });
  return { ...queue, onAgentsChanged: (listener) => changes.subscribe(listener) };
}

/** Counts the jobs at the head of the queue that can share a transaction. */
function countOfOneLevel(waiting: readonly PendingJob[]): number {
  const other = waiting.findIndex((job) => !isOfOneLevel(waiting[0] ?? job, job));
  return Math.min(other === -1 ? waiting.length : other, MAX_BATCH_SIZE);
}
