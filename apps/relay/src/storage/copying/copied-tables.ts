import Sqlite, { type Database } from "better-sqlite3";
import type { Client, QueryArrayConfig } from "pg";
import { migrate, type Migration } from "../database/migrate.ts";
import { escapeText } from "../postgres/values/escape-text.ts";

/** A column that both engines have. `rowid` is one where Postgres numbers the rows as SQLite does. */
interface CopiedColumn {
  readonly name: string;
  readonly type: string;
}

export interface CopiedTable {
  readonly name: string;
  readonly columns: readonly CopiedColumn[];
  /** The rows of a new database. */
  readonly seededRows: number;
}

/** The rows of a table and the sum of each column: of numbers, or of the bytes of texts. */
export type TableSums = Readonly<Record<string, string>>;

/** A sum reads a whole table. */
const MAX_QUERY_MS = 24 * 3_600_000;

/** A trigger fills it, so it is copied after the table that it counts. */
const LAST_TABLE = "capability_counts";

/** A sum of remainders holds in 64 bits, whatever the number of rows. */
const MODULUS = 1_000_000_007;

type SumByType = Readonly<Record<string, (column: string) => string>>;

/** The sums of a column in SQLite, by its type: fractions count in thousandths. */
const SOURCE_SUMS: SumByType = {
  TEXT: (column) => `sum(stored_bytes(${column}))`,
  BLOB: (column) => `sum(length(${column}))`,
  INTEGER: (column) => `sum(${column} % ${MODULUS})`,
  REAL: (column) => `sum(cast(${column} * 1000 AS INTEGER) % ${MODULUS})`,
};

/** The same sums in Postgres. */
const TARGET_SUMS: SumByType = {
  TEXT: (column) => `sum(octet_length(${column}))::text`,
  BLOB: (column) => `sum(octet_length(${column}))::text`,
  INTEGER: (column) => `sum(${column} % ${MODULUS})::text`,
  REAL: (column) => `sum(trunc(${column} * 1000)::bigint % ${MODULUS})::text`,
};

/** Reads the tables of the current schema, which a new database of each engine has. */
export async function listCopiedTables(
  target: Client,
  migrations: readonly Migration[],
): Promise<CopiedTable[]> {
  const numbered = await target.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
     WHERE a.attname = 'rowid' AND c.relnamespace = current_schema()::regnamespace`,
  );
  const withRowIds = new Set(numbered.rows.map(({ name }) => name));
  const fresh = new Sqlite(":memory:");
  migrate(fresh, migrations);
  const names = fresh
    .prepare(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
         AND name <> 'schema_migrations' ORDER BY name = '${LAST_TABLE}', name`,
    )
    .pluck()
    .all() as string[];
  const tables = names.map((name) => {
    const columns = fresh
      .prepare("SELECT name, type FROM pragma_table_info(?)")
      .all(name) as CopiedColumn[];
    if (withRowIds.has(name)) columns.push({ name: "rowid", type: "INTEGER" });
    const seededRows = Number(fresh.prepare(`SELECT count(*) FROM "${name}"`).pluck().get());
    return { name, columns, seededRows };
  });
  fresh.close();
  return tables;
}

/** Sums up a table of SQLite. */
export function sumSource(source: Database, { name, columns }: CopiedTable): TableSums {
  source.function("stored_bytes", { deterministic: true }, (value: unknown) =>
    typeof value === "string" ? Buffer.byteLength(escapeText(value)) : null,
  );
  const sums = columns.map(({ name: column, type }) => SOURCE_SUMS[type]?.(`"${column}"`));
  return readSums(
    columns,
    source.prepare(`SELECT count(*), ${sums.join()} FROM "${name}"`).safeIntegers().raw().get() as (
      | bigint
      | null
    )[],
  );
}

/** Sums up the same table of Postgres. */
export async function sumTarget(target: Client, table: CopiedTable): Promise<TableSums> {
  const sums = table.columns.map(({ name, type }) => TARGET_SUMS[type]?.(`"${name}"`));
  const { rows } = await target.query<(string | null)[]>({
    text: `SELECT count(*)::text, ${sums.join()} FROM "${table.name}"`,
    rowMode: "array",
    query_timeout: MAX_QUERY_MS,
  } as QueryArrayConfig);
  return readSums(table.columns, rows[0] ?? []);
}

function readSums(
  columns: readonly CopiedColumn[],
  values: readonly (bigint | string | null)[],
): TableSums {
  const names = ["rows", ...columns.map(({ name }) => name)];
  return Object.fromEntries(names.map((name, at) => [name, String(values[at] ?? 0)]));
}
