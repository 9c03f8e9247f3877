import { compile, param, sql } from "../storage/queries/compiled-query.ts";
import { matchesIfGiven } from "../storage/queries/matches-if-given.ts";
import type { Reader } from "../storage/storage.ts";
import type { ExpiredTaskRow } from "../storage/tables/operator.ts";
import { TASK_COLUMNS, type StoredTaskRow } from "../storage/tables/tasks.ts";

/** A task of a list without its prompt, with the amount that was settled; null before a settlement. */
export interface ListedTaskRow extends StoredTaskRow {
  readonly settled: number | null;
}

/** Selects a page of tasks; empty texts match any. */
export interface TaskPageQuery {
  readonly before: string;
  readonly limit: number;
  readonly state: string;
  /** The target or the executor. */
  readonly agent: string;
  readonly submitter: string;
  /** Bounds of the submission, in ms. */
  readonly from: number;
  readonly to: number;
  /** Words in the form of `parseSearchWords`. */
  readonly words: string;
}

const listedColumns = sql.join(
  TASK_COLUMNS.map((name) =>
    name === "prompt" ? sql`'' as prompt` : sql`${sql.ref(`tasks.${name}`)}`,
  ),
);

const isFiltered = sql<boolean>`
  (${param("agent")} = '' or tasks.agent_id = ${param("agent")} or assigned_to = ${param("agent")})
  and (${param("submitter")} = '' or submitted_by = ${param("submitter")})
  and submitted_at >= ${param("from")} and submitted_at < ${param("to")}
  and (${param("words")} = '' or text_rank(${param("words")}, tasks.task_id, tasks.agent_id,
    assigned_to, submitted_by, required_capabilities) > 0)`;

const compilePage = (condition: ReturnType<typeof sql<boolean>>) =>
  compile<TaskPageQuery>()(
    sql<ListedTaskRow>`
      select ${listedColumns}, amount_settled as settled
      from tasks left join settlements on settlements.task_id = tasks.task_id
      where tasks.task_id < ${param("before")} and ${condition} and ${isFiltered}
      order by tasks.task_id desc limit ${param("limit")}`,
  );

const matchesState = matchesIfGiven("state", "tasks.status");

const allTasks = compilePage(matchesState);
const openTasks = compilePage(
  sql<boolean>`tasks.status in ('pending', 'claimed')
    and ${matchesState}`,
);
const failedTasks = compilePage(
  sql<boolean>`tasks.status in ('failed', 'denied')
    and ${matchesState}`,
);
const noShowTasks = compilePage(
  sql<boolean>`tasks.task_id in (select task_id from no_shows)
    and tasks.status in ('pending', 'claimed', 'cancelled')
    and ${matchesState}`,
);

export type TaskSource = "all" | "open" | "failed" | "no_show";

const pages = { all: allTasks, open: openTasks, failed: failedTasks, no_show: noShowTasks };

/** Lists a page of the tasks that have rows, newest first. */
export function listTaskRows(
  read: Reader,
  source: TaskSource,
  query: TaskPageQuery,
): Promise<ListedTaskRow[]> {
  return read.all(pages[source], query);
}

type ExpiredPageQuery = Omit<TaskPageQuery, "state">;

const expiredPage = compile<ExpiredPageQuery>()(
  sql<ExpiredTaskRow>`
    select task_id, agent_id, submitted_by, expired_at, task from expired_tasks
    where task_id < ${param("before")}
      and (${param("agent")} = '' or agent_id = ${param("agent")}
        or text_rank(${param("agent")}, task) > 0)
      and (${param("submitter")} = '' or submitted_by = ${param("submitter")})
      and expired_at >= ${param("from")} and expired_at < ${param("to")}
      and (${param("words")} = '' or text_rank(${param("words")}, task) > 0)
    order by task_id desc limit ${param("limit")}`,
);

/** Lists a page of expired tasks, newest first. */
export function listExpiredRows(read: Reader, query: ExpiredPageQuery): Promise<ExpiredTaskRow[]> {
  return read.all(expiredPage, query);
}

const taskById = compile<{ task_id: string }>()(
  sql<ListedTaskRow>`
    select ${listedColumns}, amount_settled as settled
    from tasks left join settlements on settlements.task_id = tasks.task_id
    where tasks.task_id = ${param("task_id")}`,
);

export function findTaskRow(read: Reader, task_id: string): Promise<ListedTaskRow | undefined> {
  return read.get(taskById, { task_id });
}

const expiredById = compile<{ task_id: string }>()(
  sql<ExpiredTaskRow>`
    select task_id, agent_id, submitted_by, expired_at, task from expired_tasks
    where task_id = ${param("task_id")}`,
);

export function findExpiredRow(read: Reader, task_id: string): Promise<ExpiredTaskRow | undefined> {
  return read.get(expiredById, { task_id });
}
