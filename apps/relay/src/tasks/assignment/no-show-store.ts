import { queryBuilder, param, params, compile, sql } from "../../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { NoShowRow } from "../../storage/tables/tasks.ts";

const insertRow = compile<Omit<NoShowRow, "expired">>()(
  queryBuilder
    .insertInto("no_shows")
    .values({
      ...params("task_id", "agent_id", "target_id", "submitted_by", "lapsed_at", "task", "record"),
      expired: 0,
    })
    .onConflict((conflict) => conflict.doNothing()),
);

/** Returns false when the agent's no-show of this task was stored before: it counts once. */
export async function insertNoShow(tx: Tx, row: Omit<NoShowRow, "expired">): Promise<boolean> {
  return (await tx.run(insertRow, row)) === 1;
}

const markExpired = compile<{ task_id: string }>()(
  queryBuilder.updateTable("no_shows").set({ expired: 1 }).where("task_id", "=", param("task_id")),
);

/** Marks the no-shows of an expired task, whose own row is deleted, as its only trace. */
export async function markNoShowsExpired(tx: Tx, task_id: string): Promise<void> {
  await tx.run(markExpired, { task_id });
}

const ofTask = compile<{ task_id: string }>()(
  queryBuilder
    .selectFrom("no_shows")
    .selectAll()
    .where("task_id", "=", param("task_id"))
    .orderBy("lapsed_at"),
);

/** Lists every no-show of a task, oldest first. */
export function listNoShows(read: Reader, task_id: string): Promise<NoShowRow[]> {
  return read.all(ofTask, { task_id });
}

const selectExpired = compile<{ agent_id: string; before: string; limit: number }>()(
  queryBuilder
    .selectFrom("no_shows")
    .select((row) => ["task_id", row.fn.max("task").as("task")])
    .where("expired", "=", 1)
    .where("submitted_by", "=", param("agent_id"))
    .where("task_id", "<", param("before"))
    .groupBy("task_id")
    .orderBy("task_id", "desc")
    .limit(param("limit")),
);

/** Lists expired tasks that an agent submitted and that ended with a no-show, newest first. */
export function listExpiredNoShows(
  read: Reader,
  query: { agent_id: string; before: string; limit: number },
) {
  return read.all(selectExpired, query);
}

const deleteOld = compile<{ until: number; limit: number }>()(
  sql<never>`
    delete from no_shows where (task_id, agent_id) in (
      select task_id, agent_id from no_shows where lapsed_at <= ${param("until")}
      limit ${param("limit")})`,
);

/** Deletes no-shows that ended by `until`. */
export function purgeNoShows(tx: Tx, old: { until: number; limit: number }): Promise<number> {
  return tx.run(deleteOld, old);
}
