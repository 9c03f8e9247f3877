import { compile, param, queryBuilder, sql } from "../storage/queries/compiled-query.ts";
import { indexedBy } from "../storage/queries/fragments.ts";
import type { Tx } from "../storage/storage.ts";

/**
 * An inspection keeps its task while it is open and for the retention period after its close. A case may
 * take longer than that period, and its parties and its arbiter prove and read its outcome with the
 * evidence of the task.
 */
export const hasNoRecentInspection = sql<boolean>`not exists (
  select 1 from inspections
  where inspections.task_id = tasks.task_id
    and (closed_at is null or closed_at > ${param("until")}))`;

/** A task is deleted after its events, which are too many for one transaction with other tasks. */
const hasNoEventRows = sql<boolean>`not exists (
  select 1 from task_events where task_events.task_id = tasks.task_id)`;

const deleteFinished = compile<{ before: string; until: number; limit: number }>()(
  queryBuilder
    .deleteFrom("tasks")
    .where(
      "task_id",
      "in",
      queryBuilder
        .selectFrom("tasks")
        .select("task_id")
        .where("task_id", "<", param("before"))
        .where("finished_at", "<=", param("until"))
        .where(hasNoEventRows)
        .where(hasNoRecentInspection)
        .limit(param("limit")),
    ),
);

/**
 * Deletes tasks that were finished by `until`, and inspected ones whose inspection was closed by then;
 * receipts, settlements and postings stay. `before` is the smallest id of that time; tasks finished by then
 * have smaller ids.
 */
export function purgeFinishedTasks(
  tx: Tx,
  old: { before: string; until: number; limit: number },
): Promise<number> {
  return tx.run(deleteFinished, old);
}

const deleteFinishedOfPeers = compile<{ until: number; limit: number }>()(
  sql<never>`
    delete from tasks where task_id in (
      select task_id from tasks ${indexedBy("tasks_of_peers")}
      where origin_peer is not null and finished_at <= ${param("until")} and ${hasNoEventRows} limit ${param("limit")})`,
);

/** Deletes finished tasks that peers submitted: their ids were made by peers and imply no time. */
export function purgeFinishedPeerTasks(
  tx: Tx,
  old: { until: number; limit: number },
): Promise<number> {
  return tx.run(deleteFinishedOfPeers, old);
}
