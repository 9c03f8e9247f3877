import { toDollars } from "@agent/budget";
import type { AccountSummary } from "@agent/wire";
import {
  formatLargestFirst,
  largestFirst,
  parseLargestFirst,
} from "../../http/paging/largest-first.ts";
import { createPageAnswer, type PageQuery } from "../../http/paging/page.ts";
import type { Services } from "../../services.ts";
import { getCardHeld } from "./card-lots.ts";
import { listAccountsAfter, listLargestAccounts, type ListedAccount } from "./account-store.ts";

/** Older relays accepted any text as an account id, so a cursor may be any text. */
const anyTextAscending = { form: /^.+$/su, start: "", keyFrom: String };

type AccountQuery = PageQuery & {
  readonly sort?: "id" | "balance" | "held" | undefined;
  readonly nonzero?: "1" | undefined;
};

/** Lists the accounts of agents, by agent id or the largest first. */
export async function listAccounts(
  { storage, runtime }: Pick<Services, "storage" | "runtime">,
  { sort = "id", nonzero: isNonzero, ...query }: AccountQuery,
) {
  const now = runtime.now();
  const nonzero = isNonzero === undefined ? 0 : 1;
  const show = (rows: ListedAccount[]) => ({
    accounts: rows.map((row) => toAccountSummary(row, now)),
  });
  if (sort === "id") {
    return createPageAnswer(query, {
      order: anyTextAscending,
      find: (after, limit) => listAccountsAfter(storage.read, { after, limit, nonzero }),
      keyOf: ({ agent_id }) => agent_id,
      show,
    });
  }
  return createPageAnswer(query, {
    order: largestFirst,
    find(key, limit) {
      const place = parseLargestFirst(key);
      return listLargestAccounts(storage.read, sort, { ...place, limit, nonzero });
    },
    keyOf: (row) => formatLargestFirst(row[sort], row.agent_id),
    show,
  });
}

function toAccountSummary(row: ListedAccount, now: number): AccountSummary {
  return {
    agent_id: row.agent_id,
    balance: toDollars(row.balance),
    held: toDollars(row.held),
    pending_withdrawals: toDollars(row.pending_withdrawals),
    card_held: toDollars(getCardHeld(row, now)),
    agent_known: row.agent_known === 1,
    last_at: row.last_posted_at === 0 ? null : row.last_posted_at,
  };
}
