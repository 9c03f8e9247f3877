import { compile, param, params, queryBuilder, sql } from "../../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { ExpiredTaskRow } from "../../storage/tables/operator.ts";
import { TASK_COLUMNS, type StoredTaskRow } from "../../storage/tables/tasks.ts";
import { taskIsOpen } from "../store.ts";

const expiredInsert = compile<ExpiredTaskRow>()(
  queryBuilder
    .insertInto("expired_tasks")
    .values(params("task_id", "agent_id", "submitted_by", "expired_at", "task"))
    // A peer may send an id again after its task has expired.
    .onConflict((conflict) => conflict.doNothing()),
);

export async function insertExpiredTask(tx: Tx, row: ExpiredTaskRow): Promise<void> {
  await tx.run(expiredInsert, row);
}

const expiredPurge = compile<{ before: string; until: number; limit: number }>()(
  sql<never>`
    delete from expired_tasks where task_id in (
      select task_id from expired_tasks
      where task_id < ${param("before")} and expired_at <= ${param("until")} limit ${param("limit")})`,
);

/** Deletes what is kept of tasks that expired by `until`. */
export function purgeExpiredTasks(
  tx: Tx,
  old: { before: string; until: number; limit: number },
): Promise<number> {
  return tx.run(expiredPurge, old);
}

const selectExpired = compile<{ now: number; limit: number }>()(
  queryBuilder
    .selectFrom("tasks")
    .select("task_id")
    .where("expires_at", "<=", param("now"))
    .where(taskIsOpen)
    .orderBy("expires_at")
    .limit(param("limit")),
);

/** Lists the open tasks that must expire now. */
export function listExpiredTasks(read: Reader, now: number, limit: number) {
  return read.all(selectExpired, { now, limit });
}

const deleteOverdue = compile<{ task_id: string; now: number }>()(
  queryBuilder
    .deleteFrom("tasks")
    .where("task_id", "=", param("task_id"))
    .where("expires_at", "<=", param("now"))
    .where(taskIsOpen)
    .returning(TASK_COLUMNS),
);

/** Deletes an open task that must expire now, and returns what it was. */
export function deleteExpiredTask(
  tx: Tx,
  task_id: string,
  now: number,
): Promise<StoredTaskRow | undefined> {
  return tx.get(deleteOverdue, { task_id, now });
}
