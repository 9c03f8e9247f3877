import { param, compile, sql, either } from "../../storage/queries/compiled-query.ts";
import type { Reader } from "../../storage/storage.ts";
import type { AccountRow } from "../../storage/tables/budget.ts";

/** An agent's account, with whether an agent of that id is known here. */
export interface ListedAccount extends Pick<
  AccountRow,
  "balance" | "held" | "pending_withdrawals" | "card_lots" | "last_posted_at"
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

interface AccountPage {
  readonly after: string;
  readonly limit: number;
  /** 1 excludes accounts without a balance, a hold or a pending withdrawal. */
  readonly nonzero: 0 | 1;
}

const columns = sql`${accountAgentId} as agent_id, balance, held, pending_withdrawals, card_lots,
  last_posted_at, exists (select 1 from agents where agent_id = ${accountAgentId}) as agent_known`;

const isShown = sql<boolean>`(cast(${param("nonzero")} as bigint) = 0
  or balance <> 0 or held <> 0 or pending_withdrawals <> 0)`;

const accountPage = compile<AccountPage>()(
  sql<ListedAccount>`
    select ${columns} from accounts
    where account > 'agent:' || ${param("after")} and account < 'agent;' and ${isShown}
    order by account limit ${param("limit")}`,
);

const compileLargest = (column: "balance" | "held") => {
  const amount = sql.ref(column);
  return compile<AccountPage & { below: number }>()(
    sql<ListedAccount>`
      select ${columns} from accounts
      where account > 'agent:' and account < 'agent;' and ${isShown}
        and (${amount} < ${param("below")}
          or (${amount} = ${param("below")} and account > 'agent:' || ${param("after")}))
      order by ${amount} desc, account limit ${param("limit")}`,
  );
};

const accountsByAmount = { balance: compileLargest("balance"), held: compileLargest("held") };

/** Lists the accounts with the largest balance or holds first, behind one of `below` and an agent. */
export function listLargestAccounts(
  read: Reader,
  column: keyof typeof accountsByAmount,
  query: AccountPage & { readonly below: number },
): Promise<ListedAccount[]> {
  return read.all(accountsByAmount[column], query);
}

/** Ordered by agent id, ascending. */
export function listAccountsAfter(read: Reader, query: AccountPage): Promise<ListedAccount[]> {
  return read.all(accountPage, query);
}
