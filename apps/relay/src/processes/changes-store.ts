import { compile, either, param, queryBuilder, sql } from "../storage/queries/compiled-query.ts";
import { databaseTime } from "../storage/queries/fragments.ts";
import type { Reader, Tx } from "../storage/storage.ts";

/** Every transaction before this one has ended when a statement begins. */
const oldestRunning = either({
  sqlite: sql<number>`0`,
  postgres: sql<number>`cast(cast(pg_snapshot_xmin(pg_current_snapshot()) as text) as bigint)`,
});

/** One row of a look; without an id if nothing has changed. */
interface LookRow {
  readonly oldest_running: number;
  readonly id: number | null;
  readonly xid: number | null;
  readonly kind: string | null;
  readonly key: string | null;
}

const changesSince = compile<{ since: number; origin: string }>()(
  sql<LookRow>`
    select oldest_running, id, xid, kind, key
    from (select ${oldestRunning} as oldest_running) as look
    left join changes on xid >= ${param("since")} and origin <> ${param("origin")}
    order by id`,
);

export interface StoredChange {
  readonly id: number;
  readonly xid: number;
  readonly kind: string;
  readonly key: string;
}

/**
 * Lists the changes of other processes by the transactions from `since` on, and where the next look must
 * begin: what is uncommitted now is listed then. A change may be listed twice.
 */
export async function listChanges(
  read: Reader,
  query: { readonly since: number; readonly origin: string },
): Promise<{ readonly changes: readonly StoredChange[]; readonly next: number }> {
  const rows = await read.all(changesSince, query);
  const changes = rows.filter((row): row is LookRow & StoredChange => row.id !== null);
  return { changes, next: rows[0]?.oldest_running ?? query.since };
}

const lookStart = compile()(
  sql<{ oldest_running: number }>`select ${oldestRunning} as oldest_running`,
);

/** Returns where a first look must begin to miss nothing that is uncommitted now. */
export async function findLookStart(read: Reader): Promise<number> {
  return (await read.get(lookStart, {}))?.oldest_running ?? 0;
}

/** A process that has not looked for this long must start again. */
export const KEEP_CHANGES_MS = 3_600_000;

const deleteOld = compile()(
  queryBuilder
    .deleteFrom("changes")
    .where("at", "<", sql<number>`${databaseTime} - ${sql.lit(KEEP_CHANGES_MS)}`),
);

export async function deleteOldChanges(tx: Tx): Promise<void> {
  await tx.run(deleteOld, {});
}
