import { param, compile, sql, either } from "../../storage/queries/compiled-query.ts";
import type { Reader } from "../../storage/storage.ts";
import type { AccountRow } from "../../storage/tables/budget.ts";

/** An agent's account, with whether an agent of that id is known here. */
export interface ListedAccount extends Pick<
  AccountRow,
  "balance" | "held" | "pending_withdrawals" | "card_lots"
> {
  readonly agent_id: string;
  readonly agent_known: 0 | 1;
}

/**
 * Selects the agent id of an account. It is cut from the bytes, because SQLite ends a text at a NUL, which
 * an id of an operator's deposit may contain.
 */
export const accountAgentId = either({
  sqlite: sql<string>`cast(substr(cast(account as blob), 7) as text)`,
  postgres: sql<string>`substr(account, 7)`,
});

const accountPage = compile<{ after: string; limit: number }>()(
  sql<ListedAccount>`
    select ${accountAgentId} as agent_id, balance, held, pending_withdrawals, card_lots,
      exists (select 1 from agents where agent_id = ${accountAgentId}) as agent_known
    from accounts
    where account > 'agent:' || ${param("after")} and account < 'agent;'
    order by account limit ${param("limit")}`,
);

/** Ordered by agent id, ascending. */
export function listAccountsAfter(
  read: Reader,
  query: { after: string; limit: number },
): Promise<ListedAccount[]> {
  return read.all(accountPage, query);
}
