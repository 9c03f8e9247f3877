import type { Reader } from "../../storage/storage.ts";
import { findPosting } from "../store.ts";

/**
 * Finds the sequence number of an account's first posting at or after a time; one past its last if there is
 * none. Sequence numbers have no gaps and grow with time, so no index of times is needed.
 */
export async function findFirstSequence(
  read: Reader,
  { account, last, time }: { account: string; last: number; time: number },
): Promise<number> {
  let [low, high] = [1, last + 1];
  while (low < high) {
    const sequence = Math.floor((low + high) / 2);
    const posting = await findPosting(read, { account, sequence });
    if (posting !== undefined && posting.created_at < time) low = sequence + 1;
    else high = sequence;
  }
  return low;
}
