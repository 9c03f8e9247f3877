import {
  compile,
  param,
  queryBuilder,
  type RawBuilder,
  sql,
} from "../../storage/queries/compiled-query.ts";
import { indexedBy } from "../../storage/queries/fragments.ts";
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

const STATES = ["inspecting", "rejected", "disputed", "closed"] as const;
type State = (typeof STATES)[number];

/** Selects the ids of a page, if its state is asked for. */
const pageOf = (state: State, source: RawBuilder<unknown>) => sql`
  select task_id from (
    select task_id from ${source}
      and task_id < ${param("before")} and ${param("state")} in ('', ${sql.lit(state)})
    order by task_id desc limit ${param("limit")}) as page`;

/** Each state has its own page in the index of a party, so that no state is searched for among the others. */
const pagesOfParty = (party: "submitter_id" | "executor_id") =>
  STATES.map((state) =>
    pageOf(
      state,
      sql`inspections
        where ${sql.ref(party)} = ${param("agent_id")} and state = ${sql.lit(state)}`,
    ),
  );

const MAX_CLOSED_DISPUTES = 10_000;

/**
 * Like `isArbiterInCharge`, where cases end at a deadline that the job may not have processed yet. Its open
 * cases are few; of those that it may still read, the last closed ones are listed, because their order is
 * not that of tasks.
 */
const pagesOfArbiter = [
  pageOf(
    "disputed",
    sql`inspections ${indexedBy("disputes_waiting")}
      where arbiter_id = ${param("agent_id")} and state = 'disputed' and deadline > ${param("now")}`,
  ),
  pageOf(
    "closed",
    sql`(
      select task_id from inspections
      where arbiter_id = ${param("agent_id")} and contested_at is not null and closed_at is not null
        and closed_at > ${param("closed_after")}
      order by closed_at desc limit ${sql.lit(MAX_CLOSED_DISPUTES)}) as last_closed where true`,
  ),
];

/** Merges pages; a task may be in several of them. */
const compilePage = (pages: readonly RawBuilder<unknown>[]) =>
  compile<InspectionQuery>()(
    sql<InspectionRow>`
      select inspections.* from (
        select task_id from (${sql.join(pages, sql` union `)}) as pages
        order by task_id desc limit ${param("limit")}) as page
      join inspections on inspections.task_id = page.task_id
      order by page.task_id desc`,
  );

export const inspectionsByRole = {
  delegator: compilePage(pagesOfParty("submitter_id")),
  executor: compilePage(pagesOfParty("executor_id")),
  arbiter: compilePage(pagesOfArbiter),
  all: compilePage([
    ...pagesOfParty("submitter_id"),
    ...pagesOfParty("executor_id"),
    ...pagesOfArbiter,
  ]),
} as const;

/** Newest task first. */
export function listInspectionsOf(
  read: Reader,
  role: keyof typeof inspectionsByRole,
  query: InspectionQuery,
): Promise<InspectionRow[]> {
  return read.all(inspectionsByRole[role], query);
}

type EveryInspectionQuery = Pick<InspectionQuery, "state" | "before" | "limit">;

const everyPage = queryBuilder
  .selectFrom("inspections")
  .selectAll()
  .where("task_id", "<", param("before"))
  .orderBy("task_id", "desc")
  .limit(param("limit"));
const ofEveryAgent = compile<Omit<EveryInspectionQuery, "state">>()(everyPage);
export const inspectionsOfState = compile<EveryInspectionQuery>()(
  everyPage.where("state", "=", param("state")),
);

/** Lists the inspections of all tasks, newest task first. */
export function listEveryInspection(
  read: Reader,
  { state, ...page }: EveryInspectionQuery,
): Promise<InspectionRow[]> {
  return state === ""
    ? read.all(ofEveryAgent, page)
    : read.all(inspectionsOfState, { state, ...page });
}

/** A position in the list of waiting disputes: after the task with this id and the amount `due`. */
export interface WaitingPlace {
  readonly due: number;
  readonly task_id: string;
}

interface WaitingQuery extends WaitingPlace {
  readonly arbiter_id: string;
  readonly limit: number;
}

const waitingPage = queryBuilder
  .selectFrom("inspections")
  .selectAll()
  .where("arbiter_id", "=", param("arbiter_id"))
  .where("state", "=", sql.lit("disputed"))
  .orderBy("due", "desc")
  .orderBy("task_id")
  .limit(param("limit"));

/** Equal sums are a part of their own, because one condition for both would pass by all of them. */
export const waitingDisputes = compile<WaitingQuery>()(
  queryBuilder
    .selectFrom(
      waitingPage
        .where("due", "=", param("due"))
        .where("task_id", ">", param("task_id"))
        .as("equal"),
    )
    .selectAll()
    .unionAll(
      queryBuilder
        .selectFrom(waitingPage.where("due", "<", param("due")).as("smaller"))
        .selectAll(),
    )
    .orderBy("due", "desc")
    .orderBy("task_id")
    .limit(param("limit")),
);

/**
 * Lists the open disputes of an arbiter, by the largest amount due, then by the oldest task. To hide a
 * case, others must hold at least as much money each.
 */
export function listWaitingDisputes(read: Reader, query: WaitingQuery): Promise<InspectionRow[]> {
  return read.all(waitingDisputes, query);
}
