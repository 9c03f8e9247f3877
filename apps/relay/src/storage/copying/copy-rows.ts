import type { Database } from "better-sqlite3";
import type { Client } from "pg";
import { escapeText } from "../postgres/values/escape-text.ts";
import type { CopiedTable } from "./copied-tables.ts";

const ROWS_PER_BATCH = 1_000;

const ARRAY_TYPES: Readonly<Record<string, string>> = {
  INTEGER: "bigint[]",
  TEXT: "text[]",
  REAL: "double precision[]",
  BLOB: "bytea[]",
};

/** Replaces the rows of a table of Postgres by those of SQLite, a batch at a time. */
export async function copyRows(
  source: Database,
  target: Client,
  { name, columns }: CopiedTable,
): Promise<void> {
  await target.query(`DELETE FROM "${name}"`);
  const quoted = columns.map((column) => `"${column.name}"`).join();
  const arrays = columns.map(({ type }, at) => `$${at + 1}::${ARRAY_TYPES[type]}`).join();
  const insert = `INSERT INTO "${name}" (${quoted}) SELECT * FROM unnest(${arrays})`;
  let batch: unknown[][] = columns.map(() => []);
  const rows = source.prepare(`SELECT ${quoted} FROM "${name}"`).safeIntegers().raw().iterate();
  for (const row of rows as Iterable<unknown[]>) {
    for (const [at, value] of row.entries()) {
      batch[at]?.push(typeof value === "string" ? escapeText(value) : value);
    }
    if (batch[0]?.length === ROWS_PER_BATCH) {
      await target.query(insert, batch);
      batch = columns.map(() => []);
    }
  }
  if (batch[0]?.length !== 0) await target.query(insert, batch);
  if (columns.some((column) => column.name === "rowid")) {
    // The next row is numbered after the copied ones.
    await target.query(
      `SELECT setval(pg_get_serial_sequence($1, 'rowid'), coalesce(max(rowid), 0) + 1, false)
       FROM "${name}"`,
      [name],
    );
  }
}
