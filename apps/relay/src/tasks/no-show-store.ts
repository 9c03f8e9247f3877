import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { NoShowRow } from "../storage/tables/tasks.ts";

const add = prepare<Omit<NoShowRow, "expired">>()(
  db
    .insertInto("no_shows")
    .values({
      task_id: p("task_id"),
      agent_id: p("agent_id"),
      target_id: p("target_id"),
      submitted_by: p("submitted_by"),
      lapsed_at: p("lapsed_at"),
      expired: 0,
      task: p("task"),
      record: p("record"),
    })
    .onConflict((conflict) => conflict.doNothing()),
);

/** False when the agent's no-show of this task was stored before: it counts once. */
export async function insertNoShow(tx: Tx, row: Omit<NoShowRow, "expired">): Promise<boolean> {
  return (await tx.run(add, row)) === 1;
}

const markExpired = prepare<{ task_id: string }>()(
  db.updateTable("no_shows").set({ expired: 1 }).where("task_id", "=", p("task_id")),
);

/** Has the no-shows of a task stand for it, whose own row is deleted. */
export async function markNoShowsExpired(tx: Tx, task_id: string): Promise<void> {
  await tx.run(markExpired, { task_id });
}

const ofTask = prepare<{ task_id: string }>()(
  db.selectFrom("no_shows").selectAll().where("task_id", "=", p("task_id")).orderBy("lapsed_at"),
);

/** Every no-show of a task, oldest first. */
export function noShowsOf(read: Reader, task_id: string): Promise<NoShowRow[]> {
  return read.all(ofTask, { task_id });
}

const expiredFrom = prepare<{ agent_id: string; before: string; limit: number }>()(
  db
    .selectFrom("no_shows")
    .select(["task_id", "task"])
    .where("expired", "=", 1)
    .where("submitted_by", "=", p("agent_id"))
    .where("task_id", "<", p("before"))
    .groupBy("task_id")
    .orderBy("task_id", "desc")
    .limit(p("limit")),
);

/** Expired tasks that an agent submitted and that ended with a no-show, newest first. */
export function expiredNoShows(
  read: Reader,
  query: { agent_id: string; before: string; limit: number },
) {
  return read.all(expiredFrom, query);
}

const forget = prepare<{ until: number; limit: number }>()(
  sql<never>`
    delete from no_shows where (task_id, agent_id) in (
      select task_id, agent_id from no_shows where lapsed_at <= ${p("until")}
      limit ${p("limit")})`,
);

/** Deletes no-shows that lapsed by `until`. */
export function forgetNoShows(tx: Tx, old: { until: number; limit: number }): Promise<number> {
  return tx.run(forget, old);
}
