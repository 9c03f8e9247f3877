/** The most rows that one transaction deletes; a longer transaction would delay all others. */
export const BATCH_SIZE = 1_000;
/** Enough for any load between two runs, and few enough that the other jobs are not delayed. */
const MAX_BATCHES = 100;

/** Deletes rows in batches until none is left or the run has reached its limit; the next run goes on. */
export async function purgeInBatches(deleteBatch: () => Promise<number>): Promise<void> {
  for (let left = MAX_BATCHES; left > 0; left -= 1) {
    if ((await deleteBatch()) < BATCH_SIZE) return;
  }
}
