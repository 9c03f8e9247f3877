import { compile, param, queryBuilder, sql } from "../../storage/queries/compiled-query.ts";
import { either } from "../../storage/queries/dialects.ts";
import { inRowForm } from "../../storage/queries/row-form.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { LogEntryRow } from "../../storage/tables/log.ts";

const switchQuery = inRowForm(compile()(queryBuilder.selectFrom("log_state").select("is_on")), {
  kind: "read",
  tables: ["log_state"],
});

/** Returns whether entries are added. */
export async function isLogOn(read: Reader): Promise<boolean> {
  return (await read.get(switchQuery, {}))?.is_on === 1;
}

/**
 * The database has one writer, so the entries have no gaps, also after transactions that ran twice.
 * SQLite counts itself: a select from the table that is written would go through a temporary table.
 */
const nextIndex = either({
  sqlite: sql<number>`null`,
  postgres: sql<number>`(select coalesce(max(idx), 0) + 1 from log_entries)`,
});

const appendQuery = inRowForm(
  compile<{ entry: Uint8Array }>()(
    queryBuilder.insertInto("log_entries").values({ idx: nextIndex, entry: param("entry") }),
  ),
  { kind: "insert", table: "log_entries", row: ({ entry }) => ({ entry }), numberedBy: "idx" },
);

/** Adds an entry behind the last one. Its caller must know that the log is on. */
export async function insertEntry(tx: Tx, entry: Uint8Array): Promise<void> {
  await tx.run(appendQuery, { entry });
}

const entriesAfter = compile<{ after: number; limit: number }>()(
  queryBuilder
    .selectFrom("log_entries")
    .select("entry")
    .where("idx", ">", param("after"))
    .orderBy("idx")
    .limit(param("limit")),
);

/** Lists entries in order; `after` is a number of entries. */
export async function listEntriesAfter(
  read: Reader,
  query: { readonly after: number; readonly limit: number },
): Promise<Uint8Array[]> {
  const rows = await read.all(entriesAfter, query);
  return rows.map(({ entry }) => entry);
}

const entriesBefore = compile<{ before: number; limit: number }>()(
  queryBuilder
    .selectFrom("log_entries")
    .selectAll()
    .where("idx", "<", param("before"))
    .orderBy("idx", "desc")
    .limit(param("limit")),
);

/** Lists entries from the newest to the oldest. */
export function listEntriesBefore(
  read: Reader,
  query: { readonly before: number; readonly limit: number },
): Promise<LogEntryRow[]> {
  return read.all(entriesBefore, query);
}

const entryCount = compile()(
  sql<{ count: number }>`select coalesce(max(idx), 0) as count from log_entries`,
);

/** Counts all entries, those that no head covers yet included. */
export async function countEntries(read: Reader): Promise<number> {
  return (await read.get(entryCount, {}))?.count ?? 0;
}
