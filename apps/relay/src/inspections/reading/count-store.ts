import {
  computeLeastLoss,
  countsForArbiter,
  ZERO,
  type ArbiterCase,
  type InspectionVolume,
  type Micro,
  type SubmitterCase,
} from "@agent/budget";
import { limits } from "@agent/wire";
import { compile, param, queryBuilder, sql } from "../../storage/queries/compiled-query.ts";
import type { Reader } from "../../storage/storage.ts";
import type { InspectionCountRow, InspectionRow } from "../../storage/tables/inspections.ts";
import { toStake } from "../terms.ts";
import { toDecidedDispute } from "./counts-for-arbiter.ts";

interface OfAgent {
  readonly agent_id: string;
}

const countsOfAgent = compile<OfAgent>()(
  queryBuilder
    .selectFrom("inspection_counts")
    .selectAll()
    .where("agent_id", "=", param("agent_id")),
);

/** Finds the figures of an agent's inspections; undefined before the first. */
export function findInspectionCounts(
  read: Reader,
  agent_id: string,
): Promise<InspectionCountRow | undefined> {
  return read.get(countsOfAgent, { agent_id });
}

export const NO_VOLUME: InspectionVolume = { count: 0, due: ZERO };

const rejectedVolume = compile<OfAgent>()(
  sql<InspectionVolume>`
    select count(*) as count, coalesce(cast(sum(due) as bigint), 0) as due from inspections
    where submitter_id = ${param("agent_id")} and state in ('rejected', 'disputed')`,
);

/** Sums the inspections of a submitter in `rejected` and `disputed`. */
export async function sumRejected(read: Reader, agent_id: string): Promise<InspectionVolume> {
  return (await read.get(rejectedVolume, { agent_id })) ?? NO_VOLUME;
}

interface PaidQuery extends OfAgent {
  readonly since: number;
  readonly limit: number;
}

const paidVolume = compile<PaidQuery>()(
  sql<InspectionVolume>`
    select count(*) as count, coalesce(cast(sum(due) as bigint), 0) as due from (
      select due from inspections
      where submitter_id = ${param("agent_id")} and closed_at >= ${param("since")}
        and counted = 1 and offer is null and closed_at is not null
      order by closed_at desc limit ${param("limit")}) as paid`,
);

/**
 * Sums the newest `limit` inspections that a submitter paid without a rejection at `since` or later. Open
 * ones are excluded, because they may end without a payment, and so are those with the submitter itself
 * under another id, with which it could raise its own limit.
 */
export async function sumPaid(read: Reader, query: PaidQuery): Promise<InspectionVolume> {
  return (await read.get(paidVolume, query)) ?? NO_VOLUME;
}

interface SubmitterCaseRow {
  readonly closed_at: number;
  readonly lost_by: string | null;
  readonly arbiter_id: string;
}

const IS_ENDED_DISPUTE = sql.raw(
  "contested_at is not null and counted = 1 and (decision is not null or lost_by is not null)",
);

const submitterCases = compile<OfAgent & { since: number; limit: number }>()(
  sql<SubmitterCaseRow>`
    select task_id, closed_at, lost_by, arbiter_id from (
      select task_id, closed_at, lost_by, arbiter_id from inspections
      where submitter_id = ${param("agent_id")} and ${IS_ENDED_DISPUTE}
      order by closed_at desc limit ${param("limit")}) as newest
    union
    select task_id, closed_at, lost_by, arbiter_id from (
      select task_id, closed_at, lost_by, arbiter_id,
        row_number() over (partition by arbiter_id order by closed_at desc) as place
      from inspections
      where submitter_id = ${param("agent_id")} and ${IS_ENDED_DISPUTE} and arbiter_id in (
        select arbiter_id from inspections
        where submitter_id = ${param("agent_id")} and closed_at >= ${param("since")}
          and lost_by = 'submitter' and ${IS_ENDED_DISPUTE})) as cases
    where place <= ${param("limit")}
    order by closed_at desc`,
);

const COUNTED_CASES = 10;

/**
 * Lists a submitter's last cases that were decided or given up in dispute, and its last ones before each
 * arbiter before which it lost a case at `since` or later, newest first.
 */
export async function listSubmitterCases(
  read: Reader,
  query: OfAgent & { readonly since: number },
): Promise<SubmitterCase[]> {
  const rows = await read.all(submitterCases, { ...query, limit: COUNTED_CASES });
  return rows.map(({ closed_at, lost_by, arbiter_id }) => ({
    closedAt: closed_at,
    isLost: lost_by === "submitter",
    arbiterId: arbiter_id,
  }));
}

interface ArbiterCaseRow extends Pick<InspectionRow, "due" | "fee" | "terms" | "share"> {
  readonly ended_at: number;
  readonly is_passed: 0 | 1;
  readonly submitter_fees: number | null;
}

const arbiterCases = compile<OfAgent & { limit: number }>()(
  sql<ArbiterCaseRow>`
    select ended_at, is_passed, due, fee, terms, share, fees_paid as submitter_fees from (
      select * from (
        select closed_at as ended_at, 0 as is_passed, due, fee, terms, share, submitter_id
        from inspections
        where arbiter_id = ${param("agent_id")} and decision is not null and counted = 1
        order by closed_at desc limit ${param("limit")}) as decided
      union all
      select * from (
        select passed_at, 1, due, fee, terms, share, submitter_id from inspections
        where passed_by = ${param("agent_id")} and counted = 1
        order by passed_at desc limit ${param("limit")}) as passed) as cases
    left join agent_histories as histories on histories.agent_id = cases.submitter_id
    order by ended_at desc`,
);

/**
 * Lists the last cases that an arbiter let pass, and the last that it decided, as far as they count for an
 * arbiter (`countsForArbiter`), newest first.
 */
export async function listArbiterCases(
  read: Reader,
  agent_id: string,
  leastFees: Micro,
): Promise<ArbiterCase[]> {
  const rows = await read.all(arbiterCases, { agent_id, limit: limits.arbiterCases });
  const isCounted = (row: ArbiterCaseRow) =>
    row.is_passed === 1 ||
    countsForArbiter(toDecidedDispute(row, row.submitter_fees ?? 0), leastFees);
  return rows.filter(isCounted).map((row) => ({
    endedAt: row.ended_at,
    isPassed: row.is_passed === 1,
    leastLoss: computeLeastLoss(toStake(row)),
  }));
}

const disputeCount = compile<OfAgent & { least_due: number }>()(
  queryBuilder
    .selectFrom("inspections")
    .select(sql<number>`count(*)`.as("count"))
    .where("arbiter_id", "=", param("agent_id"))
    .where("state", "=", sql.lit("disputed"))
    .where("due", ">=", param("least_due")),
);

/** Counts the disputes about `least_due` or more that an arbiter is in charge of. */
export async function countOpenDisputes(
  read: Reader,
  agent_id: string,
  least_due: Micro = ZERO,
): Promise<number> {
  return (await read.get(disputeCount, { agent_id, least_due }))?.count ?? 0;
}

const openCount = compile<OfAgent>()(
  sql<{ count: number }>`
    select count(*) as count from inspections
    where executor_id = ${param("agent_id")} and state in ('inspecting', 'rejected', 'disputed')`,
);

/** Counts the open inspections of an executor. */
export async function countOpenInspections(read: Reader, agent_id: string): Promise<number> {
  return (await read.get(openCount, { agent_id }))?.count ?? 0;
}

const uncontestedFees = compile<OfAgent>()(
  sql<{ count: number; fees: number }>`
    select count(*) as count, coalesce(sum(fee), 0) as fees from inspections
    where executor_id = ${param("agent_id")} and state in ('inspecting', 'rejected')`,
);

/** Counts the inspections that an executor has not contested, and sums the bonds that it needs for them. */
export async function sumUncontestedFees(
  read: Reader,
  agent_id: string,
): Promise<{ readonly count: number; readonly fees: number }> {
  return (await read.get(uncontestedFees, { agent_id })) ?? { count: 0, fees: 0 };
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
