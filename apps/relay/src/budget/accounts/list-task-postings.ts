import { accountOf, negate } from "@agent/budget";
import type { Services } from "../../services.ts";
import type { Reader } from "../../storage/storage.ts";
import type { PostingRow } from "../../storage/tables/budget.ts";
import { findFirstSequence } from "../statements/find-first-sequence.ts";
import { findAccount, listPostings } from "../store.ts";
import { getTaskMoney, toTaskPosting, type TaskPosting } from "./task-money.ts";

/** More movements than this of one payer at the time of a hold are not searched. */
const MAX_SEARCHED = 200;
/** A hold has a few movements: it is made, and released or settled. */
const MAX_HELD = 20;

/**
 * Lists the postings of a task, both sides of each movement, oldest first, including those of an open task,
 * whose hold is not named by a settlement.
 */
export async function listTaskPostings(
  services: Pick<Services, "storage" | "identity">,
  { task_id, payerId }: { readonly task_id: string; readonly payerId: string },
): Promise<TaskPosting[]> {
  const { read } = services.storage;
  const newest = { before: Number.MAX_SAFE_INTEGER, limit: MAX_HELD };
  const held = await listPostings(read, { account: accountOf.held(task_id), ...newest });
  const payers = await Promise.all(held.map((side) => findPayersSide(read, side, payerId)));
  const { postings } = await getTaskMoney(services, task_id);
  const all = [
    ...[...held, ...payers.flatMap((side) => side ?? [])].map(toTaskPosting),
    ...postings,
  ];
  const byId = new Map(all.map((posting) => [posting.transaction_id, posting]));
  return [...byId.values()].sort((a, b) => (a.transaction_id < b.transaction_id ? -1 : 1));
}

/** Finds the other side of a movement of a hold, which was posted at the same time. */
async function findPayersSide(
  read: Reader,
  { type, amount, created_at, reference_id }: PostingRow,
  payerId: string,
): Promise<PostingRow | undefined> {
  const account = accountOf.party(payerId);
  const last = (await findAccount(read, account))?.sequence ?? 0;
  const first = await findFirstSequence(read, { account, last, time: created_at });
  const rows = await listPostings(read, {
    account,
    before: first + MAX_SEARCHED,
    limit: MAX_SEARCHED,
  });
  return rows.find(
    (row) =>
      row.type === type && row.amount === negate(amount) && row.reference_id === reference_id,
  );
}
