import { prepare, sql } from "../storage/prepared.ts";
import type { Reader } from "../storage/storage.ts";

const live = prepare()(sql<{ live: number }>`select live from task_counters where scope = 'all'`);

/** How many tasks have not ended. */
export async function openTasks(read: Reader): Promise<number> {
  return (await read.get(live, {}))?.live ?? 0;
}

const applied = prepare()(sql<{ count: number }>`select count(*) as count from schema_migrations`);

export async function countMigrations(read: Reader): Promise<number> {
  return (await read.get(applied, {}))?.count ?? 0;
}

const one = prepare()(sql<{ one: number }>`select 1 as one`);

/** Resolves when the database answers. */
export async function ping(read: Reader): Promise<void> {
  await read.get(one, {});
}
