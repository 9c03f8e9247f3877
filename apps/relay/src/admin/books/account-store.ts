import { accountAgentId } from "../../budget/accounts/account-store.ts";
import { compile, param, sql, either } from "../../storage/queries/compiled-query.ts";
import {
  indexedBy,
  jsonMember,
  jsonPair,
  jsonRows,
  laterText,
} from "../../storage/queries/fragments.ts";
import type { Reader } from "../../storage/storage.ts";
import type { Page, PageParams, PageRow } from "./scan-pages.ts";

const MOVEMENTS_PER_PAGE = 5_000;

const accountKind = either({
  sqlite: sql<string>`case when instr(account, ':') = 0 then account
    else substr(account, 1, instr(account, ':') - 1) end`,
  postgres: sql<string>`split_part(account, ':', 1)`,
});

/** Sums a page of accounts by kind (agent, held, relay, peer, world), in micro-units. */
export const accountTotals = compile<Page>()(
  sql<{ last: string | null; rows: number; totals: string }>`
    with page as (
      select * from accounts where account > ${param("after")} order by account limit ${param("limit")}
    ), kinds as (
      select
        ${accountKind} as kind,
        sum(balance) as balance
      from page group by kind
    )
    select
      (select max(account) from page) as last,
      (select count(*) from page) as rows,
      (select ${jsonRows(jsonPair(sql.ref("kind"), sql.ref("balance")))} from kinds) as totals`,
);

const externalMovements = compile<{ after: number; limit: number }>()(
  sql<{ type: string; amount: number; last: number }>`
    select type, sum(amount) as amount, max(sequence) as last from (
      select type, amount, sequence from postings
      where account = 'world' and sequence > ${param("after")}
      order by sequence limit ${param("limit")}
    ) as movements group by type`,
);

/** Sums external movements by type. The world's side of a deposit is negative. */
export async function sumExternalMovements(read: Reader): Promise<Map<string, number>> {
  const totals = new Map<string, number>();
  for (let after = 0; ;) {
    const rows = await read.all(externalMovements, { after, limit: MOVEMENTS_PER_PAGE });
    for (const { type, amount } of rows) totals.set(type, (totals.get(type) ?? 0) + amount);
    if (rows.length === 0) return totals;
    after = Math.max(...rows.map(({ last }) => last));
  }
}

/** Compiles a query for the agents on a page whose accounts break a rule. */
const compileAgentPage = (rule: ReturnType<typeof sql<boolean>>) =>
  compile<Page>()(
    sql<PageRow>`
      with page as (
        select * from accounts
        where account > ${laterText("agent:", param("after"))} and account < 'agent;'
        order by account limit ${param("limit")}
      )
      select
        (select max(account) from page) as last,
        (select count(*) from page) as rows,
        (select ${jsonRows(sql.ref("account"))} from page
          where ${rule}) as wrong`,
  );

const cardReversalTotal = compile()(
  sql<{ booked: number }>`select coalesce(sum(booked), 0) as booked from card_reversals`,
);

/** Sums the reversed card payments, in micro-units. */
export async function sumCardReversals(read: Reader): Promise<number> {
  return (await read.get(cardReversalTotal, {}))?.booked ?? 0;
}

/** Finds agents that owe more than their reversed card payments. */
export const overdrawnAgents = compileAgentPage(sql<boolean>`
  balance < 0 and balance + coalesce((select sum(booked) from card_reversals
    where card_reversals.agent_id = ${accountAgentId}), 0) < 0`);

/** Finds agents whose account counts a wrong number of pending withdrawals. */
export const wrongWithdrawalCounts = compileAgentPage(sql<boolean>`
  pending_withdrawals <> (select coalesce(sum(amount), 0) from withdrawals ${indexedBy("withdrawals_by_agent")}
    where agent_id = ${accountAgentId} and status = 'pending')`);

/** Finds accounts whose balance is not that of their last posting. */
export const brokenBalances = compile<PageParams>()(
  sql<PageRow>`
    with page as (
      select * from accounts where account > ${param("after")} order by account limit ${param("limit")}
    )
    select
      (select max(account) from page) as last,
      (select count(*) from page) as rows,
      (select ${jsonRows(sql.ref("account"))} from page
        where (balance <> 0 or last_posted_at >= ${param("since")})
          and balance <> coalesce((select balance_after from postings
            where postings.account = page.account and postings.sequence = page.sequence), 0)) as wrong`,
);

/** Finds holds without an open task, inspection or withdrawal, or a settlement between relays. */
export const unmatchedHolds = compile<PageParams>()(
  sql<PageRow>`
    with page as (
      select * from accounts
      where account > ${laterText("held:", param("after"))} and account < 'held;'
      order by account limit ${param("limit")}
    )
    select
      (select max(account) from page) as last,
      (select count(*) from page) as rows,
      (select ${jsonRows(sql.ref("account"))} from page
        left join tasks on tasks.task_id = substr(account, 6)
        left join withdrawals on withdrawals.withdrawal_id = substr(account, 6)
        left join federation_holds on federation_holds.task_id = substr(account, 6)
        left join inspections on inspections.task_id = substr(account, 6)
        left join inspections as disputes on disputes.dispute_id = substr(account, 6)
        where (balance <> 0 or last_posted_at >= ${param("since")})
          and balance <>
          (case when tasks.status in ('pending', 'claimed') then tasks.locked else 0 end)
          + (case when withdrawals.status = 'pending' then withdrawals.amount else 0 end)
          + (case when inspections.deadline is not null then inspections.due + inspections.fee else 0 end)
          + (case when disputes.deadline is not null then disputes.bond else 0 end)
          + coalesce(federation_holds.amount, 0)) as wrong`,
);

/** Sums a page of holds by payer, for tasks that are open or to be settled. */
export const heldByPayer = compile<Page>()(
  sql<{ last: string | null; rows: number; payers: string }>`
    with page as (
      select account, balance from accounts
      where account > ${laterText("held:", param("after"))} and account < 'held;'
      order by account limit ${param("limit")}
    ), payers as (
      select
        coalesce(
          (select submitted_by from tasks
            where task_id = substr(account, 6) and status in ('pending', 'claimed')),
          (select submitter_id from inspections
            where task_id = substr(account, 6) and closed_at is null),
          (select executor_id from inspections
            where dispute_id = substr(account, 6) and closed_at is null),
          (select ${jsonMember("body", "payerId")} from federation_outbox where task_id = substr(account, 6))
        ) as payer, balance
      from page where balance <> 0
    )
    select
      (select max(account) from page) as last,
      (select count(*) from page) as rows,
      (select ${jsonRows(jsonPair(sql`'agent:' || payer`, sql.ref("balance")))} from payers
        where payer is not null) as payers`,
);

/** Reads the held amounts of a page of accounts. */
export const heldByAgent = compile<Page>()(
  sql<{ last: string | null; rows: number; held: string }>`
    with page as (
      select account, held from accounts
      where account > ${laterText("agent:", param("after"))} and account < 'agent;'
      order by account limit ${param("limit")}
    )
    select
      (select max(account) from page) as last,
      (select count(*) from page) as rows,
      (select ${jsonRows(jsonPair(sql.ref("account"), sql.ref("held")))} from page) as held`,
);

const postingPage = compile<{ account: string; sequence: number; limit: number }>()(
  sql<ChainedPosting>`
    select account, sequence, balance_after - amount = coalesce(
      (select balance_after from postings as before
        where before.account = postings.account and before.sequence = postings.sequence - 1),
      case when sequence = 1 then 0 end) as fits
    from postings
    where (account, sequence) > (${param("account")}, ${param("sequence")})
    order by account, sequence limit ${param("limit")}`,
);

/** A posting, and whether it continues from the previous balance. */
export interface ChainedPosting {
  readonly account: string;
  readonly sequence: number;
  readonly fits: 0 | 1 | null;
}

export function listPostingsAfter(
  read: Reader,
  query: { account: string; sequence: number; limit: number },
): Promise<ChainedPosting[]> {
  return read.all(postingPage, query);
}
