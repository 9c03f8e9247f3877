/** Rows that one transaction removes at most: a longer one would hold up all others. */
export const BATCH_SIZE = 1_000;
/** As many in a round as keep up with any load, and few enough that other jobs have their turn. */
const MAX_BATCHES = 100;

/** Removes rows a batch at a time until none is left, or until it is the turn of others. */
export async function purgeInBatches(remove: () => Promise<number>): Promise<void> {
  for (let left = MAX_BATCHES; left > 0; left -= 1) {
    if ((await remove()) < BATCH_SIZE) return;
  }
}
