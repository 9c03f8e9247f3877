import type { ArbiterCase, SubmitterCase } from "@agent/budget";
import type { InspectionCounts } from "@agent/wire";
import { compile, param, queryBuilder, sql } from "../../storage/queries/compiled-query.ts";
import { indexedBy } from "../../storage/queries/fragments.ts";
import type { Reader } from "../../storage/storage.ts";

interface OfAgent {
  readonly agent_id: string;
}

const compileCounts = (role: "submitter" | "executor") =>
  compile<OfAgent>()(
    sql<InspectionCounts>`
      select count(*) as closed, count(offer) as rejected,
        count(case when lost_by = ${sql.lit(role)} then 1 end) as lost
      from inspections ${indexedBy(`inspections_by_${role}`)}
      where ${sql.ref(`${role}_id`)} = ${param("agent_id")} and closed_at is not null and counted = 1`,
  );

const countsOfRole = {
  submitter: compileCounts("submitter"),
  executor: compileCounts("executor"),
} as const;

/** Counts the closed inspections of a party; those between agents that count as one are left out. */
export async function countInspections(
  read: Reader,
  role: keyof typeof countsOfRole,
  agent_id: string,
): Promise<InspectionCounts> {
  const counted = await read.get(countsOfRole[role], { agent_id });
  return counted ?? { closed: 0, rejected: 0, lost: 0 };
}

const arbiterCounts = compile<OfAgent>()(
  sql<{ decided: number; passed: number }>`
    select
      (select count(*) from inspections where arbiter_id = ${param("agent_id")}
        and contested_at is not null and closed_at is not null and decision is not null
        and counted = 1) as decided,
      (select count(*) from inspections where passed_by = ${param("agent_id")}
        and counted = 1) as passed`,
);

/** Counts the disputes that an agent decided as their arbiter, and those that it let pass. */
export async function countArbitrations(
  read: Reader,
  agent_id: string,
): Promise<{ readonly decided: number; readonly passed: number }> {
  return (await read.get(arbiterCounts, { agent_id })) ?? { decided: 0, passed: 0 };
}

const operatorCounts = compile<OfAgent>()(
  sql<{ opened: number; decided: number; undecided: number }>`
    select count(*) as opened, count(decision) as decided,
      count(case when closed_at is not null and decision is null and lost_by is null then 1 end) as undecided
    from inspections where arbiter_id = ${param("agent_id")} and contested_at is not null
      and counted = 1`,
);

/** Counts the disputes of the operator: all, those that it decided, and those that it let pass. */
export async function countOperatorDisputes(
  read: Reader,
  relayId: string,
): Promise<{ readonly opened: number; readonly decided: number; readonly undecided: number }> {
  const counted = await read.get(operatorCounts, { agent_id: relayId });
  return counted ?? { opened: 0, decided: 0, undecided: 0 };
}

const rejectedCount = compile<OfAgent>()(
  sql<{ count: number }>`
    select count(*) as count from inspections ${indexedBy("inspections_by_submitter")}
    where submitter_id = ${param("agent_id")} and closed_at is null and offer is not null`,
);

/** Counts the inspections of a submitter in `rejected` and `disputed`. */
export async function countRejected(read: Reader, agent_id: string): Promise<number> {
  return (await read.get(rejectedCount, { agent_id }))?.count ?? 0;
}

const begunCount = compile<OfAgent & { since: number }>()(
  sql<{ count: number }>`
    select count(*) as count from inspections
    where submitter_id = ${param("agent_id")} and begun_at >= ${param("since")} and counted = 1`,
);

/**
 * Counts the inspections of a submitter that began at `since` or later; those with itself under another id
 * are left out, because with them it could raise its own limit.
 */
export async function countBegun(
  read: Reader,
  query: { agent_id: string; since: number },
): Promise<number> {
  return (await read.get(begunCount, query))?.count ?? 0;
}

const submitterCases = compile<OfAgent & { limit: number }>()(
  sql<{ closed_at: number; lost_by: string | null }>`
    select closed_at, lost_by from inspections
    where submitter_id = ${param("agent_id")} and contested_at is not null and closed_at is not null
      and counted = 1 and (decision is not null or lost_by is not null)
    order by closed_at desc limit ${param("limit")}`,
);

const COUNTED_CASES = 10;

/** Lists a submitter's last cases that were decided or given up in dispute, newest first. */
export async function listSubmitterCases(read: Reader, agent_id: string): Promise<SubmitterCase[]> {
  const rows = await read.all(submitterCases, { agent_id, limit: COUNTED_CASES });
  return rows.map(({ closed_at, lost_by }) => ({
    closedAt: closed_at,
    isLost: lost_by === "submitter",
  }));
}

const arbiterCases = compile<OfAgent & { limit: number }>()(
  sql<{ ended_at: number; is_passed: 0 | 1 }>`
    select ended_at, is_passed from (
      select closed_at as ended_at, 0 as is_passed from inspections
        where arbiter_id = ${param("agent_id")} and contested_at is not null
          and closed_at is not null and decision is not null and counted = 1
      union all
      select passed_at, 1 from inspections
        where passed_by = ${param("agent_id")} and counted = 1) as cases
    order by ended_at desc limit ${param("limit")}`,
);

const COUNTED_ARBITRATIONS = 3;

/** Lists an arbiter's last cases that it decided or let pass, newest first. */
export async function listArbiterCases(read: Reader, agent_id: string): Promise<ArbiterCase[]> {
  const rows = await read.all(arbiterCases, { agent_id, limit: COUNTED_ARBITRATIONS });
  return rows.map(({ ended_at, is_passed }) => ({ endedAt: ended_at, isPassed: is_passed === 1 }));
}

const disputeCount = compile<OfAgent>()(
  queryBuilder
    .selectFrom("inspections")
    .select(sql<number>`count(*)`.as("count"))
    .where("arbiter_id", "=", param("agent_id"))
    .where("contested_at", "is not", null)
    .where("closed_at", "is", null),
);

/** Counts the disputes of which an arbiter is in charge. */
export async function countOpenDisputes(read: Reader, agent_id: string): Promise<number> {
  return (await read.get(disputeCount, { agent_id }))?.count ?? 0;
}

const openWork = compile<OfAgent>()(
  sql<{ count: number; fees: number }>`
    select count(*) as count, coalesce(sum(fee), 0) as fees
    from inspections where executor_id = ${param("agent_id")} and closed_at is null`,
);

/** Counts the open inspections of an executor, and sums the fees that it needs to contest them all. */
export async function sumOpenWork(
  read: Reader,
  agent_id: string,
): Promise<{ readonly count: number; readonly fees: number }> {
  return (await read.get(openWork, { agent_id })) ?? { count: 0, fees: 0 };
}

const openTaskCount = compile<OfAgent>()(
  sql<{ count: number }>`
    select count(*) as count from tasks
    where coalesce(assigned_to, agent_id) = ${param("agent_id")}
      and status in ('pending', 'claimed') and acceptance is not null`,
);

/** Counts the open tasks of an executor that will be inspected. */
export async function countInspectedTasks(read: Reader, agent_id: string): Promise<number> {
  return (await read.get(openTaskCount, { agent_id }))?.count ?? 0;
}

const openWorkOfAll = compile()(
  sql<{ executor_id: string; count: number }>`
    select executor_id, cast(sum(open) as bigint) as count from (
      select executor_id, count(*) as open from inspections
        where deadline is not null group by executor_id
      union all
      select coalesce(assigned_to, agent_id), count(*) from tasks
        where status in ('pending', 'claimed') and acceptance is not null
        group by coalesce(assigned_to, agent_id)) as work
    group by executor_id`,
);

/** Counts the open inspections of each executor, and its open tasks that will be inspected. */
export async function loadOpenWork(read: Reader): Promise<ReadonlyMap<string, number>> {
  const rows = await read.all(openWorkOfAll, {});
  return new Map(rows.map(({ executor_id, count }) => [executor_id, count]));
}
