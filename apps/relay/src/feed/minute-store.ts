import { compile, param, params, queryBuilder, sql } from "../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { EndedTasksRow, RelayMinuteRow } from "../storage/tables/operator.ts";

const minuteByNumber = compile<{ minute: number }>()(
  queryBuilder.selectFrom("relay_minutes").selectAll().where("minute", "=", param("minute")),
);

export function findMinute(read: Reader, minute: number): Promise<RelayMinuteRow | undefined> {
  return read.get(minuteByNumber, { minute });
}

const figures = [
  "submitted",
  "completed",
  "failed",
  "expired",
  "settled",
  "fees",
  "online",
  "durations",
] as const;

const minuteUpsert = compile<RelayMinuteRow>()(
  queryBuilder
    .insertInto("relay_minutes")
    .values(params("minute", ...figures))
    .onConflict((conflict) =>
      conflict.column("minute").doUpdateSet((row) => ({
        submitted: row.ref("excluded.submitted"),
        completed: row.ref("excluded.completed"),
        failed: row.ref("excluded.failed"),
        expired: row.ref("excluded.expired"),
        settled: row.ref("excluded.settled"),
        fees: row.ref("excluded.fees"),
        online: row.ref("excluded.online"),
        durations: row.ref("excluded.durations"),
      })),
    ),
);

/** Inserts or replaces the figures of a minute. */
export async function saveMinute(tx: Tx, minute: RelayMinuteRow): Promise<void> {
  await tx.run(minuteUpsert, minute);
}

const minutesFrom = compile<{ from: number; to: number }>()(
  queryBuilder
    .selectFrom("relay_minutes")
    .selectAll()
    .where("minute", ">=", param("from"))
    .where("minute", "<", param("to"))
    .orderBy("minute"),
);

/** Lists the minutes that have figures, oldest first; `to` is excluded. */
export function listMinutes(
  read: Reader,
  span: { from: number; to: number },
): Promise<RelayMinuteRow[]> {
  return read.all(minutesFrom, span);
}

const minutePurge = compile<{ before: number }>()(
  queryBuilder.deleteFrom("relay_minutes").where("minute", "<", param("before")),
);

export function deleteOldMinutes(tx: Tx, before: number): Promise<number> {
  return tx.run(minutePurge, { before });
}

const endedUpsert = compile<EndedTasksRow>()(
  sql<never>`
    insert into ended_tasks (state, tasks) values (${param("state")}, ${param("tasks")})
    on conflict (state) do update set tasks = ended_tasks.tasks + excluded.tasks`,
);

/** Adds to the number of tasks that ended in a state. */
export async function addEndedTasks(tx: Tx, state: string, tasks: number): Promise<void> {
  await tx.run(endedUpsert, { state, tasks });
}
