import { compile, param, params, queryBuilder, sql } from "../../storage/queries/compiled-query.ts";
import type { Tx } from "../../storage/storage.ts";
import type { ExpiredTaskRow } from "../../storage/tables/operator.ts";

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
