import { compile, param, queryBuilder, sql } from "../../storage/queries/compiled-query.ts";
import type { Reader } from "../../storage/storage.ts";
import type { InspectionRow } from "../../storage/tables/inspections.ts";

/** Selects the inspections of an agent in one role. An empty state matches any. */
export interface InspectionQuery {
  readonly agent_id: string;
  readonly state: string;
  /** A task id: only smaller ones. */
  readonly before: string;
  readonly limit: number;
  readonly now: number;
  /** Closed cases are listed for their arbiter only if they closed after this time. */
  readonly closed_after: number;
}

const stateIs = sql<boolean>`(${param("state")} = '' or state = ${param("state")})`;

const selectPage = queryBuilder
  .selectFrom("inspections")
  .selectAll()
  .where("task_id", "<", param("before"))
  .where(stateIs)
  .orderBy("task_id", "desc")
  .limit(param("limit"));

const ofDelegator = compile<InspectionQuery>()(
  selectPage.where("submitter_id", "=", param("agent_id")),
);
const ofExecutor = compile<InspectionQuery>()(
  selectPage.where("executor_id", "=", param("agent_id")),
);
/** As `isArbiterInCharge`, whose cases end at a deadline that the job may not have seen yet. */
const isArbiter = sql<boolean>`(arbiter_id = ${param("agent_id")} and contested_at is not null
  and (deadline > ${param("now")} or closed_at > ${param("closed_after")}))`;
const ofArbiter = compile<InspectionQuery>()(selectPage.where(isArbiter));
const ofAnyRole = compile<InspectionQuery>()(
  selectPage.where((where) =>
    where.or([
      where("submitter_id", "=", param("agent_id")),
      where("executor_id", "=", param("agent_id")),
      isArbiter,
    ]),
  ),
);

const queries = {
  delegator: ofDelegator,
  executor: ofExecutor,
  arbiter: ofArbiter,
  all: ofAnyRole,
} as const;

/** Newest task first. */
export function listInspectionsOf(
  read: Reader,
  role: keyof typeof queries,
  query: InspectionQuery,
): Promise<InspectionRow[]> {
  return read.all(queries[role], query);
}

type EveryInspectionQuery = Pick<InspectionQuery, "state" | "before" | "limit">;

const ofEveryAgent = compile<EveryInspectionQuery>()(selectPage);

/** Lists the inspections of all tasks, newest task first. */
export function listEveryInspection(
  read: Reader,
  query: EveryInspectionQuery,
): Promise<InspectionRow[]> {
  return read.all(ofEveryAgent, query);
}

const waitingDisputes = compile<{ arbiter_id: string; after: string; limit: number }>()(
  queryBuilder
    .selectFrom("inspections")
    .selectAll()
    .where("arbiter_id", "=", param("arbiter_id"))
    .where("contested_at", "is not", null)
    .where("closed_at", "is", null)
    .where("task_id", ">", param("after"))
    .orderBy("task_id")
    .limit(param("limit")),
);

/** Lists the open disputes of an arbiter, oldest task first. */
export function listWaitingDisputes(
  read: Reader,
  query: { arbiter_id: string; after: string; limit: number },
): Promise<InspectionRow[]> {
  return read.all(waitingDisputes, query);
}
