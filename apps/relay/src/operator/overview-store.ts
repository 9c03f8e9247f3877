import { compile, param, sql, either } from "../storage/queries/compiled-query.ts";
import type { Reader } from "../storage/storage.ts";

interface OpenTasks {
  readonly status: "pending" | "claimed";
  readonly tasks: number;
  readonly oldest: number;
  readonly locked: number;
}

const openTasks = compile()(
  sql<OpenTasks>`
    select status, count(*) as tasks, min(submitted_at) as oldest, sum(locked) as locked
    from tasks where status in ('pending', 'claimed') group by status`,
);

/** Counts the open tasks and sums up their holds, by state. */
export function countOpenTasksByState(read: Reader): Promise<OpenTasks[]> {
  return read.all(openTasks, {});
}

const endedTasks = compile()(
  sql<{ state: string; tasks: number }>`select state, tasks from ended_tasks`,
);

/** Lists the tasks that ever ended, by state. */
export function listEndedTasks(read: Reader): Promise<{ state: string; tasks: number }[]> {
  return read.all(endedTasks, {});
}

interface MoneyTotals {
  readonly balances: number;
  readonly pending_withdrawals: number;
  /** The money that open inspections hold. */
  readonly inspected: number;
  /** The holds of ended tasks that wait for another relay. */
  readonly awaiting: number;
}

const moneyTotals = compile()(
  sql<MoneyTotals>`
    select coalesce(sum(balance), 0) as balances,
      coalesce(sum(pending_withdrawals), 0) as pending_withdrawals,
      (select coalesce(sum(amount), 0) from federation_holds) as awaiting,
      (select coalesce(sum(due + fee + bond), 0) from inspections
        where deadline is not null) as inspected
    from accounts where account > 'agent:' and account < 'agent;'`,
);

export async function sumMoney(read: Reader): Promise<MoneyTotals> {
  const none = { balances: 0, pending_withdrawals: 0, awaiting: 0, inspected: 0 };
  return (await read.get(moneyTotals, {})) ?? none;
}

interface Counts {
  readonly bound: number;
  readonly registered: number;
  readonly outbox_failed: number;
  readonly withdrawals_pending: number;
  readonly approvals_pending: number;
}

const counts = compile()(
  sql<Counts>`
    select
      (select count(*) from agents where revoked_at is null) as bound,
      (select count(*) from agents where registered = 1 and revoked_at is null) as registered,
      (select count(*) from federation_outbox
        where ended_at is null and state = 'failed') as outbox_failed,
      (select count(*) from withdrawals where status = 'pending') as withdrawals_pending,
      (select count(*) from approvals where status = 'pending') as approvals_pending`,
);

export async function countWaiting(read: Reader): Promise<Counts> {
  const found = await read.get(counts, {});
  if (found === undefined) throw new Error("a query without a table returned no row");
  return found;
}

const peerStates = compile()(
  sql<{ state: string; peers: number }>`
    select state, count(*) as peers from federation_peers group by state`,
);

export function countPeersByState(read: Reader): Promise<{ state: string; peers: number }[]> {
  return read.all(peerStates, {});
}

const databaseBytes = compile<{ unit: number }>()(
  sql<{ bytes: number }>`select ${either({
    sqlite: sql<number>`(select page_count from pragma_page_count()) *
      (select page_size from pragma_page_size()) * ${param("unit")}`,
    postgres: sql<number>`pg_database_size(current_database()) * cast(${param("unit")} as bigint)`,
  })} as bytes`,
);

/** Returns the size of the database; null if the engine does not report it. */
export async function findDatabaseBytes(read: Reader): Promise<number | null> {
  return (await read.get(databaseBytes, { unit: 1 }))?.bytes ?? null;
}

const lastSequence = compile()(sql<{ last: number }>`select last from event_counter where one = 1`);

/** Returns the number of the newest event; 0 before the first one. */
export async function findLastSequence(read: Reader): Promise<number> {
  return (await read.get(lastSequence, {}))?.last ?? 0;
}
