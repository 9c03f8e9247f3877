import { FEE_ACCOUNT } from "@agent/budget";
import type { Reader } from "../../storage/storage.ts";
import { findFirstSequence } from "../statements/find-first-sequence.ts";
import { findAccount, findPosting } from "../store.ts";

/** Returns the fees that the relay earned in all and since a time, in micro-units. */
export async function getFees(
  read: Reader,
  since: number,
): Promise<{ readonly total: number; readonly recent: number }> {
  const account = await findAccount(read, FEE_ACCOUNT);
  if (account === undefined) return { total: 0, recent: 0 };
  const place = { account: FEE_ACCOUNT, last: account.sequence, time: since };
  const first = await findFirstSequence(read, place);
  const before = await findPosting(read, { account: FEE_ACCOUNT, sequence: first - 1 });
  return { total: account.balance, recent: account.balance - (before?.balance_after ?? 0) };
}
