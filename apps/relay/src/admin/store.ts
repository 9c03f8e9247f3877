import { compile, param, sql } from "../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../storage/storage.ts";

const liveTaskCount = compile()(
  sql<{ live: number }>`select live from task_counters where scope = 'all'`,
);

/** Counts the tasks that have not ended. */
export async function countOpenTasks(read: Reader): Promise<number> {
  return (await read.get(liveTaskCount, {}))?.live ?? 0;
}

const appliedMigrationCount = compile()(
  sql<{ count: number }>`select count(*) as count from schema_migrations`,
);

export async function countMigrations(read: Reader): Promise<number> {
  return (await read.get(appliedMigrationCount, {}))?.count ?? 0;
}

const pingQuery = compile()(sql<{ one: number }>`select 1 as one`);

/** Resolves when the database answers. */
export async function pingDatabase(read: Reader): Promise<void> {
  await read.get(pingQuery, {});
}

const counterMove = compile<{ by: number }>()(
  sql`update event_counter set last = last + ${param("by")} where one = 1`,
);

/** Writes a row and leaves it as it was. SQLite does not write a row that a statement leaves equal. */
export async function probeWrite(tx: Tx): Promise<void> {
  await tx.run(counterMove, { by: 1 });
  await tx.run(counterMove, { by: -1 });
}
