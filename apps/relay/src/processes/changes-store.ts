import { compile, either, param, queryBuilder, sql } from "../storage/queries/compiled-query.ts";
import { databaseTime } from "../storage/queries/fragments.ts";
import type { Reader, Tx } from "../storage/storage.ts";

/** Every transaction before this one has ended when a statement begins. */
const oldestRunning = either({
  sqlite: sql<number>`0`,
  postgres: sql<number>`cast(cast(pg_snapshot_xmin(pg_current_snapshot()) as text) as bigint)`,
});

/**
 * A mark that changes when the server has lost its memory, by a crash or because a replica replaced it. The
 * server then restarts unsaved counters: its statistics, and the numbers of transactions without effect,
 * which are then assigned again.
 */
const serverMark = either({
  sqlite: sql<number>`0`,
  postgres: sql<number>`cast(extract(epoch from pg_stat_get_bgwriter_stat_reset_time()) * 1000000 as bigint)`,
});

const looking = sql<LookPosition>`
  select ${oldestRunning} as since, ${serverMark} as server`;

/** The position where a read begins. */
export interface LookPosition {
  /** The number of the first transaction whose changes are listed. */
  readonly since: number;
  /** The mark of the server that counts the transactions. */
  readonly server: number;
}

/** One row of a read; without an id if nothing has changed. */
interface LookRow extends LookPosition {
  readonly id: number | null;
  readonly xid: number | null;
  readonly kind: string | null;
  readonly key: string | null;
}

const changesSince = compile<{ since: number; origin: string }>()(
  sql<LookRow>`
    select look.since, look.server, id, xid, kind, key
    from (${looking}) as look
    left join changes on xid >= ${param("since")} and origin <> ${param("origin")}
    order by id`,
);

const recentChanges = compile<{ maxAge: number; origin: string }>()(
  sql<LookRow>`
    select look.since, look.server, id, xid, kind, key
    from (${looking}) as look
    left join changes on at >= ${databaseTime} - ${param("maxAge")} and origin <> ${param("origin")}
    order by id`,
);

export interface StoredChange {
  readonly id: number;
  readonly xid: number;
  readonly kind: string;
  readonly key: string;
}

/**
 * The changes of other processes, and where the next read must begin, so that it lists what is uncommitted
 * now.
 */
export interface FoundChanges {
  readonly changes: readonly StoredChange[];
  readonly next: LookPosition;
}

/** Lists the changes by the transactions from `since` on. A change may be listed twice. */
export async function listChanges(
  read: Reader,
  query: { readonly since: number; readonly origin: string },
): Promise<FoundChanges> {
  return toFoundChanges(await read.all(changesSince, query));
}

/** Lists the changes of the last `maxAge` ms by the clock of the database. */
export async function listRecentChanges(
  read: Reader,
  query: { readonly maxAge: number; readonly origin: string },
): Promise<FoundChanges> {
  return toFoundChanges(await read.all(recentChanges, query));
}

function toFoundChanges(rows: readonly LookRow[]): FoundChanges {
  const [first] = rows;
  if (first === undefined) throw new Error("the read of the changes returned no row");
  const changes = rows.filter((row): row is LookRow & StoredChange => row.id !== null);
  return { changes, next: { since: first.since, server: first.server } };
}

const lookStart = compile()(looking);

/** Returns where a first read must begin to include everything that is uncommitted now. */
export async function findLookStart(read: Reader): Promise<LookPosition> {
  return (await read.get(lookStart, {})) ?? { since: 0, server: 0 };
}

/** A process that has not read the changes for this long must start again. */
export const KEEP_CHANGES_MS = 3_600_000;

const deleteOld = compile()(
  queryBuilder
    .deleteFrom("changes")
    .where("at", "<", sql<number>`${databaseTime} - ${sql.lit(KEEP_CHANGES_MS)}`),
);

export async function deleteOldChanges(tx: Tx): Promise<void> {
  await tx.run(deleteOld, {});
}
