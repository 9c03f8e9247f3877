import { toDollars } from "@agent/budget";
import type { SettlementRecord } from "@agent/receipts";
import type { Services } from "../../services.ts";
import type { Reader } from "../../storage/storage.ts";
import type { PostingRow } from "../../storage/tables/budget.ts";
import type { PostedRow } from "../post-movement.ts";
import { signSettlement } from "../sign-settlement.ts";
import { findPosting, findSettlement } from "../store.ts";

/** The payment for a task with its movement; both are empty for a free task. */
export interface TaskMoney {
  readonly settlements: readonly SettlementRecord[];
  readonly postings: readonly TaskPosting[];
}

/** One posting of the movement, without the resulting balance, which is private to its account. */
export interface TaskPosting extends Pick<
  PostingRow,
  "transaction_id" | "account" | "type" | "created_at"
> {
  /** In currency units. */
  readonly amount: number;
}

export async function getTaskMoney(
  { storage, identity }: Pick<Services, "storage" | "identity">,
  taskId: string,
): Promise<TaskMoney> {
  const row = await findSettlement(storage.read, taskId);
  if (row === undefined) return { settlements: [], postings: [] };
  const places = JSON.parse(row.postings) as readonly PostedRow[];
  return {
    settlements: [signSettlement(row, identity)],
    postings: await loadPostings(storage.read, places),
  };
}

/** Loads postings by their positions. */
export async function loadPostings(
  read: Reader,
  places: readonly PostedRow[],
): Promise<TaskPosting[]> {
  const postings = await Promise.all(
    places.map(([account, sequence]) => findPosting(read, { account, sequence })),
  );
  return postings.flatMap((posting) => (posting === undefined ? [] : [toTaskPosting(posting)]));
}

/** Omits the members that are private to the account. */
export function toTaskPosting({
  transaction_id,
  account,
  type,
  amount,
  created_at,
}: PostingRow): TaskPosting {
  return { transaction_id, account, type, amount: toDollars(amount), created_at };
}
