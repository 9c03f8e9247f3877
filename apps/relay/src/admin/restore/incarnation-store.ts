import { queryBuilder, param, compile, either, sql } from "../../storage/queries/compiled-query.ts";
import { largerOf } from "../../storage/queries/fragments.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { FreezeRow, IncarnationRow } from "../../storage/tables/admin.ts";
import { TABLES_ENDED_BY_RESTORE } from "../../storage/tables/ended-by-restore.ts";

const incarnationRow = compile()(queryBuilder.selectFrom("incarnation").selectAll());

/** Returns the incarnation of this database; 0 if it was never restored from a backup. */
export async function findIncarnation(read: Reader): Promise<IncarnationRow["number"]> {
  return (await read.get(incarnationRow, {}))?.number ?? 0;
}

/** The cluster keeps its identifier in a failover, and a database its number; a restored copy has others. */
const currentDatabaseId = either({
  sqlite: sql<string | null>`null`,
  postgres: sql<
    string | null
  >`(select (select system_identifier from pg_control_system()) || '/' || oid
    from pg_database where datname = current_database())`,
});

/** The database in which the relay last started, and the current one. */
export interface DatabaseOrigin {
  readonly stored: string | null;
  readonly current: string | null;
}

const databaseOrigin = compile()(
  sql<DatabaseOrigin>`select database_id as stored, ${currentDatabaseId} as current from incarnation`,
);

export function findDatabaseOrigin(read: Reader): Promise<DatabaseOrigin | undefined> {
  return read.get(databaseOrigin, {});
}

const updateOrigin = compile()(
  sql<never>`update incarnation set database_id = ${currentDatabaseId}`,
);

export async function saveDatabaseOrigin(tx: Tx): Promise<void> {
  await tx.run(updateOrigin, {});
}

const raiseNumber = compile<{ least: number }>()(
  sql<Pick<IncarnationRow, "number">>`
    update incarnation set database_id = ${currentDatabaseId},
      number = ${largerOf(sql`number + 1`, sql`cast(${param("least")} as bigint)`)}
    returning number`,
);

/** Raises the incarnation to `least` or more, and returns it. */
export async function raiseIncarnation(tx: Tx, least: number): Promise<number> {
  const row = await tx.get(raiseNumber, { least });
  if (row === undefined) throw new Error("the database has no incarnation");
  return row.number;
}

const insertRestored = compile<Pick<FreezeRow, "since" | "reason">>()(
  sql<never>`
    insert into "freeze" (one, since, reason, restored)
    values (1, ${param("since")}, ${param("reason")}, 1)
    on conflict (one) do update set reason = excluded.reason, restored = 1`,
);

/** Stores that the relay is frozen because its database was restored. */
export async function insertRestoredFreeze(
  tx: Tx,
  row: Pick<FreezeRow, "since" | "reason">,
): Promise<void> {
  await tx.run(insertRestored, row);
}

const deletesOfRestore = TABLES_ENDED_BY_RESTORE.map((table) =>
  compile()(queryBuilder.deleteFrom(table)),
);

/** Ends all console sessions, and the codes that would open another one. */
export async function deleteConsoleSessions(tx: Tx): Promise<void> {
  for (const query of deletesOfRestore) await tx.run(query, {});
}
