import { toDollars } from "@agent/budget";
import type { AccountSummary } from "@agent/wire";
import { createPageAnswer, type PageQuery } from "../../http/paging/page.ts";
import type { Services } from "../../services.ts";
import { getCardHeld } from "./card-lots.ts";
import { listAccountsAfter, type ListedAccount } from "./account-store.ts";

/** Older relays accepted any text as an account id, so a cursor may be any text. */
const anyTextAscending = { form: /^.+$/su, start: "", keyFrom: String };

/** Lists the accounts of agents, by agent id. */
export async function listAccounts(
  { storage, runtime }: Pick<Services, "storage" | "runtime">,
  query: PageQuery,
) {
  const now = runtime.now();
  return createPageAnswer(query, {
    order: anyTextAscending,
    find: (after, limit) => listAccountsAfter(storage.read, { after, limit }),
    keyOf: ({ agent_id }) => agent_id,
    show: (rows) => ({ accounts: rows.map((row) => toAccountSummary(row, now)) }),
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
  };
}
