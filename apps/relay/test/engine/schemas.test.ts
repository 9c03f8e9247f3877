import { runStatement } from "@agent/test-postgres";
import Sqlite from "better-sqlite3";
import { beforeAll, describe, expect, test } from "vitest";
import { migrate } from "../../src/storage/database/migrate.ts";
import { migrations } from "../../src/storage/migrations/index.ts";
import { openDatabaseOf } from "./database-of-path.ts";

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
}

interface Index {
  readonly table: string;
  /** The columns, with `desc` after those that are sorted in descending order. */
  readonly columns: string;
  readonly unique: boolean;
  readonly condition: string;
}

const TYPES: Readonly<Record<string, string>> = {
  INTEGER: "bigint",
  TEXT: 'text COLLATE "C"',
  REAL: "double precision",
  BLOB: "bytea",
};

/** The row number, which SQLite stores without declaring a column. */
const ROW_NUMBER = "rowid";

const sqlite = { columns: [] as Column[], indexes: [] as Index[] };
const postgres = { columns: [] as Column[], indexes: [] as Index[] };
let url: string;

const byText = <T>(rows: readonly T[]) => rows.map((row) => JSON.stringify(row)).sort();

/** Normalises a condition: removes brackets, casts and words that only one engine prints. */
const simplify = (condition: string) =>
  condition
    .toLowerCase()
    .replaceAll(/::[a-z]+|["()]/g, "")
    .replaceAll(/= any array\[([^\]]*)\]/g, "in $1")
    .replaceAll(/\s+/g, " ")
    .trim();

beforeAll(async () => {
  readSqlite();
  url = await openDatabaseOf("schemas");
  await readPostgres();
});

function readSqlite(): void {
  const db = new Sqlite(":memory:");
  migrate(db, migrations);
  const all = <Row>(text: string, ...values: string[]) => db.prepare(text).all(...values) as Row[];
  const tables = all<{ name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  );
  for (const { name: table } of tables) {
    const columns = all<{ name: string; type: string; notnull: number; pk: number }>(
      "SELECT * FROM pragma_table_info(?)",
      table,
    );
    for (const { name, type, notnull, pk } of columns) {
      const nullable = notnull === 0 && pk === 0;
      sqlite.columns.push({ table, name, type: TYPES[type] ?? type, nullable });
    }
    const keys = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
    addIndex(sqlite.indexes, { table, columns: keys.map(({ name }) => name), unique: true });
    const indexes = all<{ name: string; unique: number; origin: string }>(
      "SELECT * FROM pragma_index_list(?) WHERE origin <> 'pk'",
      table,
    );
    for (const { name, unique } of indexes) {
      const parts = all<{ name: string | null; desc: number }>(
        "SELECT * FROM pragma_index_xinfo(?) WHERE key = 1",
        name,
      );
      const [definition] = all<{ sql: string | null }>(
        "SELECT sql FROM sqlite_schema WHERE name = ?",
        name,
      );
      const condition = /\bWHERE\b([^]*)$/i.exec(definition?.sql ?? "")?.[1];
      addIndex(sqlite.indexes, {
        table,
        columns: parts.map(
          (part) => (part.name ?? "expression") + (part.desc === 1 ? " desc" : ""),
        ),
        unique: unique === 1,
        ...(condition !== undefined && { condition }),
      });
    }
  }
  db.close();
}

function addIndex(
  to: Index[],
  index: { table: string; columns: readonly string[]; unique: boolean; condition?: string },
): void {
  if (index.columns.length === 0) return;
  to.push({
    table: index.table,
    columns: index.columns.join(),
    unique: index.unique,
    condition: simplify(index.condition ?? ""),
  });
}

async function readPostgres(): Promise<void> {
  const columns = await runStatement(
    url,
    `SELECT c.relname AS "table", a.attname AS name, NOT a.attnotnull AS nullable,
            format_type(a.atttypid, a.atttypmod)
              || coalesce(' COLLATE ' || quote_ident(l.collname), '') AS type
     FROM pg_class AS c
     JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
     WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace`,
  );
  for (const { table, name, type, nullable } of columns as unknown as Column[]) {
    postgres.columns.push({ table, name, type, nullable });
  }
  const indexes = await runStatement(
    url,
    `SELECT t.relname AS "table", i.indisunique AS "unique",
            pg_get_expr(i.indpred, i.indrelid, true) AS condition,
            ARRAY(SELECT pg_get_indexdef(i.indexrelid, k, true)
                || CASE WHEN i.indoption[k - 1] & 1 = 1 THEN ' desc' ELSE '' END
              FROM generate_series(1, i.indnkeyatts) AS k) AS columns
     FROM pg_index AS i JOIN pg_class AS t ON t.oid = i.indrelid
     WHERE t.relnamespace = current_schema()::regnamespace AND t.relkind = 'r'`,
  );
  for (const row of indexes) {
    const {
      table,
      unique,
      condition,
      columns: parts,
    } = row as {
      table: string;
      unique: boolean;
      condition: string | null;
      columns: string[];
    };
    const names = parts.map((part) => (/[(]/.test(part) ? "expression" : part.replaceAll('"', "")));
    addIndex(postgres.indexes, {
      table,
      columns: names,
      unique,
      ...(condition !== null && { condition }),
    });
  }
}

describe("the schemas of both engines", () => {
  test("the schemas of both engines have the same columns of the same types, and the same of them may be null", () => {
    const ofRows = postgres.columns.filter(({ name }) => name !== ROW_NUMBER);
    expect(byText(ofRows)).toEqual(byText(sqlite.columns));
  });

  test("the schemas of both engines have the same keys and indexes", () => {
    const ofRows = postgres.indexes.filter(({ columns }) => columns !== ROW_NUMBER);
    expect(byText(ofRows)).toEqual(byText(sqlite.indexes));
  });

  test("the schemas of both engines compare every text of Postgres by its bytes", () => {
    const texts = postgres.columns.filter(({ type }) => type.startsWith("text"));
    expect(texts.length).toBeGreaterThan(150);
    expect(texts.filter(({ type }) => type !== 'text COLLATE "C"')).toEqual([]);
  });
});
