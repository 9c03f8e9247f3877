import { p, prepare, sql } from "../storage/prepared.ts";
import type { Reader } from "../storage/storage.ts";
import type { AccountRow } from "../storage/tables/budget.ts";

/** An agent's account, and whether this relay knows an agent of that id. */
export interface ListedAccount extends Pick<
  AccountRow,
  "balance" | "held" | "pending_withdrawals" | "card_lots"
> {
  readonly agent_id: string;
  readonly agent_known: 0 | 1;
}

const page = prepare<{ after: string; limit: number }>()(
  sql<ListedAccount>`
    select substr(account, 7) as agent_id, balance, held, pending_withdrawals, card_lots,
      exists (select 1 from agents where agent_id = substr(account, 7)) as agent_known
    from accounts
    where account > 'agent:' || ${p("after")} and account < 'agent;'
    order by account limit ${p("limit")}`,
);

/** By agent id, in ascending order. */
export function accountsAfter(
  read: Reader,
  query: { after: string; limit: number },
): Promise<ListedAccount[]> {
  return read.all(page, query);
}
