import type { Storage, Tx } from "./storage.ts";

/** The most rows that one batch handles; a longer transaction would delay all others. */
export const BATCH_SIZE = 1_000;
/** Enough for any load between two runs, and few enough that the other jobs are not delayed. */
const MAX_BATCHES = 100;

/** Handles batches until one is not full or the run has reached its limit; the next run continues. */
export async function runInBatches(handleBatch: (limit: number) => Promise<number>): Promise<void> {
  for (let left = MAX_BATCHES; left > 0; left -= 1) {
    if ((await handleBatch(BATCH_SIZE)) < BATCH_SIZE) return;
  }
}

/** Deletes the rows that `old` describes, each batch in a transaction of its own. */
export function purgeInBatches<Query extends object>(
  storage: Pick<Storage, "transaction">,
  deleteBatch: (tx: Tx, old: Query & { readonly limit: number }) => Promise<number>,
  old: Query,
): Promise<void> {
  return runInBatches((limit) => storage.transaction((tx) => deleteBatch(tx, { ...old, limit })));
}
