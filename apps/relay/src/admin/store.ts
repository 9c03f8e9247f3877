import { prepare, sql } from "../storage/prepared.ts";
import type { Reader } from "../storage/storage.ts";

/** What lies in each kind of account (agent, held, relay, peer, world), in micro-units. */
const totals = prepare()(
  sql<{ kind: string; balance: number }>`
    select
      case when instr(account, ':') = 0 then account else substr(account, 1, instr(account, ':') - 1) end as kind,
      sum(balance) as balance
    from accounts group by kind`,
);

export function accountTotals(read: Reader) {
  return read.all(totals, {});
}

const movedByType = prepare()(
  sql<{ type: string; amount: number }>`
    select type, sum(amount) as amount from postings where account = 'world' group by type`,
);

/** What came in from outside and went out again, by type; the world's side is negative for a deposit. */
export function movedOutside(read: Reader) {
  return read.all(movedByType, {});
}

const owing = prepare()(
  sql<{ unexplained: number; reversed: number }>`
    select
      (select count(*) from accounts
        where account >= 'agent:' and account < 'agent;' and balance < 0
          and balance + coalesce((select sum(booked) from card_reversals
            where card_reversals.agent_id = substr(account, 7)), 0) < 0) as unexplained,
      (select coalesce(sum(booked), 0) from card_reversals) as reversed`,
);

/** How many agents owe more than card payments of theirs that were taken back, and the sum of those. */
export async function owingAccounts(read: Reader) {
  return (await read.get(owing, {})) ?? { unexplained: 0, reversed: 0 };
}

const broken = prepare()(
  sql<{ count: number }>`
    select count(*) as count from accounts
    left join (select account, sum(amount) as total from postings group by account) using (account)
    where balance <> coalesce(total, 0)`,
);

/** How many balances are not the sum of their postings. */
export async function brokenAccounts(read: Reader): Promise<number> {
  return (await read.get(broken, {}))?.count ?? 0;
}

const stray = prepare()(
  sql<{ count: number }>`
    select count(*) as count from accounts
    left join tasks on tasks.task_id = substr(account, 6)
    left join withdrawals on withdrawals.withdrawal_id = substr(account, 6)
    left join federation_holds on federation_holds.task_id = substr(account, 6)
    where account >= 'held:' and account < 'held;'
      and balance <> (case when tasks.status in ('pending', 'claimed') then tasks.locked else 0 end)
        + (case when withdrawals.status = 'pending' then withdrawals.amount else 0 end)
        + coalesce(federation_holds.amount, 0)`,
);

/** How many holds match no open task, no pending withdrawal, nothing to be settled between relays. */
export async function strayHolds(read: Reader): Promise<number> {
  return (await read.get(stray, {}))?.count ?? 0;
}

const leaving = prepare()(
  sql<{ count: number }>`
    select count(*) as count from accounts
    left join (
      select 'agent:' || agent_id as account, sum(amount) as total
      from withdrawals where status = 'pending' group by agent_id
    ) using (account)
    where pending_withdrawals <> coalesce(total, 0)`,
);

/** How many accounts count other pending withdrawals than there are. */
export async function strayWithdrawals(read: Reader): Promise<number> {
  return (await read.get(leaving, {}))?.count ?? 0;
}

const live = prepare()(sql<{ live: number }>`select live from task_counters where scope = 'all'`);

/** How many tasks have not ended. */
export async function openTasks(read: Reader): Promise<number> {
  return (await read.get(live, {}))?.live ?? 0;
}

const applied = prepare()(sql<{ count: number }>`select count(*) as count from schema_migrations`);

export async function countMigrations(read: Reader): Promise<number> {
  return (await read.get(applied, {}))?.count ?? 0;
}

const one = prepare()(sql<{ one: number }>`select 1 as one`);

/** Resolves when the database answers. */
export async function ping(read: Reader): Promise<void> {
  await read.get(one, {});
}
