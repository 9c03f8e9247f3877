import { AsyncLocalStorage } from "node:async_hooks";
import { StorageUnavailable, type Isolation, type Storage, type Tx } from "../storage.ts";
import { AgentChanges, type ChangeListener } from "../writing/agent-changes.ts";
import { yieldToEventLoop } from "../writing/group-commit.ts";
import {
  isOfOneLevel,
  runPass,
  type Mode,
  type OtherProcesses,
  type PendingJob,
} from "./run-pass.ts";
import { createColumnTypes } from "./together/write-rows.ts";
import type { WritingConnection } from "./writing-connection.ts";

/** A larger batch would let the first of its jobs, and other processes, wait for too long. */
const MAX_BATCH_SIZE = 256;

const MAX_CONFLICTS = 20;

/** A key that is still taken after so many conflicts was taken by the job's own fault. */
const MAX_KEY_CONFLICTS = 3;

export interface TransactionQueue {
  readonly transaction: Storage["transaction"];
  readonly onAgentsChanged: (listener: ChangeListener) => void;
  /** Finishes accepted jobs and refuses later ones. */
  readonly close: () => Promise<void>;
}

/**
 * Runs transactions one after another on the writing connection. Those that wait share one commit, so
 * one write of the server's log. As on SQLite a batch first runs without savepoints, and again with them
 * when one job must be undone. A batch of which it is unknown whether it was committed never runs again.
 */
export function createTransactionQueue(
  connection: WritingConnection,
  others?: OtherProcesses,
): TransactionQueue {
  const changes = new AgentChanges();
  const findTypes = createColumnTypes();
  const waiting: PendingJob[] = [];
  let draining: Promise<void> | undefined;
  let closed = false;

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      await yieldToEventLoop();
      await runBatch(waiting.splice(0, countOfOneLevel(waiting)));
    }
    draining = undefined;
  }

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
      const reason = new StorageUnavailable("the database could not write", { cause });
      for (const job of batch) job.reject(reason);
    }
  }

  // A batch belongs to no request, so it must not run in the context of the one that started it.
  const drainWithoutContext = AsyncLocalStorage.bind(drain);

  return {
    transaction: <T>(work: (tx: Tx) => Promise<T>, isolation: Isolation = "serializable") =>
      new Promise<T>((resolve, reject) => {
        if (closed) return reject(new StorageUnavailable("the storage is closed"));
        waiting.push({ isolation, work, resolve: resolve as (value: unknown) => void, reject });
        draining ??= drainWithoutContext();
      }),

    onAgentsChanged: (listener) => changes.subscribe(listener),

    async close() {
      closed = true;
      await draining;
    },
  };
}

/** Counts the jobs at the head of the queue that can share a transaction. */
function countOfOneLevel(waiting: readonly PendingJob[]): number {
  const other = waiting.findIndex((job) => !isOfOneLevel(waiting[0] ?? job, job));
  return Math.min(other === -1 ? waiting.length : other, MAX_BATCH_SIZE);
}
