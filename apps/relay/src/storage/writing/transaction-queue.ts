import { AsyncLocalStorage } from "node:async_hooks";
import { StorageUnavailable, type Isolation, type Storage, type Tx } from "../storage.ts";
import type { PendingJob } from "./pending-job.ts";

export interface TransactionQueue {
  readonly transaction: Storage["transaction"];
  /** Finishes accepted jobs and refuses later ones. */
  readonly close: () => Promise<void>;
}

/**
 * Runs jobs in batches, one batch after another. `runNextBatch` removes at least one job
 * from the head of the queue, runs what it removed, and settles each. It must not throw.
 */
export function createTransactionQueue(
  runNextBatch: (waiting: PendingJob[]) => Promise<void>,
): TransactionQueue {
  const waiting: PendingJob[] = [];
  let draining: Promise<void> | undefined;
  let closed = false;

  async function drain(): Promise<void> {
    while (waiting.length > 0) await runNextBatch(waiting);
    draining = undefined;
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

    async close() {
      closed = true;
      await draining;
    },
  };
}
