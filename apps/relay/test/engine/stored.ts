import { readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { dropDatabase, openConnection, runStatement } from "@agent/test-postgres";
import Sqlite from "better-sqlite3";
import { damageTable } from "../stored/damaged-database.ts";
import { createTurns } from "../../src/storage/create-turns.ts";
import { readDatabase } from "../../src/storage/database/read-database.ts";
import type { Query, Reader } from "../../src/storage/storage.ts";
import { openDatabaseOf, toUrl } from "./database-of-path.ts";
import { engine, getServer } from "./engine.ts";

type Value = string | number | null;

/**
 * Changes the database of a path directly, bypassing the relay, to the state that a fault or an older version
 * would leave. Each question mark stands for a value.
 */
export async function editStored(
  path: string,
  text: string,
  values: readonly Value[] = [],
): Promise<void> {
  if (engine === "postgres") return void (await runStatement(toUrl(path), number(text), values));
  const db = new Sqlite(path);
  if (values.length === 0) db.exec(text);
  else db.prepare(text).run(...values);
  db.close();
}

/** Reads rows from the database of a path directly, bypassing the relay. */
export async function readStored<Row>(path: string, text: string): Promise<Row[]> {
  if (engine === "postgres") return (await runStatement(toUrl(path), text)) as Row[];
  const db = new Sqlite(path, { readonly: true });
  const rows = db.prepare(text).all() as Row[];
  db.close();
  return rows;
}

/** A database that is read directly, while a relay uses it. */
export interface StoredRows {
  /** Each question mark stands for a value. */
  all<Row>(text: string, values?: readonly Value[]): Promise<Row[]>;
  close(): Promise<void>;
}

/** Opens the database of a path for many reads. */
export async function openStoredRows(path: string): Promise<StoredRows> {
  if (engine === "postgres") {
    const client = await openConnection(toUrl(path));
    // The driver will refuse a statement on a connection that runs another one.
    const runInTurn = createTurns();
    return {
      all: <Row>(text: string, values: readonly Value[] = []) =>
        runInTurn(async () => (await client.query(number(text), [...values])).rows as Row[]),
      close: () => client.end(),
    };
  }
  const db = new Sqlite(path, { readonly: true });
  return {
    all: <Row>(text: string, values: readonly Value[] = []) =>
      Promise.resolve(db.prepare(text).all(...values) as Row[]),
    close: () => Promise.resolve(void db.close()),
  };
}

/** Runs the queries of a store directly on a database that a relay uses. */
export function readBesideRelay<T>(path: string, work: (read: Reader) => Promise<T>): Promise<T> {
  return engine === "postgres" ? work(createServerReader(toUrl(path))) : readDatabase(path, work);
}

function createServerReader(url: string): Reader {
  const all: Reader["all"] = async <P, Row>({ postgres }: Query<P, Row>, params: P) =>
    (await runStatement(url, postgres.text, postgres.values(params))) as Row[];
  return { all, get: async (query, params) => (await all(query, params))[0] };
}

/** Copies a database that may be in use, as it would be some time after a crash. */
export async function copyStored(from: string, to: string): Promise<void> {
  if (engine === "postgres") {
    const url = await openDatabaseOf(to);
    await loadTables(url, await dumpTables(from));
    for (const table of ["leases", "processes"]) {
      await runStatement(url, `UPDATE ${table} SET until = 0`);
    }
    return;
  }
  const db = new Sqlite(from);
  db.prepare("VACUUM INTO ?").run(to);
  db.close();
}

/** Overwrites a page of a table in an unused database, as a broken disk would. */
export async function damageStored(path: string, table: string): Promise<void> {
  if (engine === "sqlite") return damageTable(path, table);
  const { serverUrl } = getServer();
  const name = new URL(toUrl(path)).pathname.slice(1);
  // The path is relative to the server's data folder, in which its programs run.
  const [row] = await runStatement(toUrl(path), "SELECT pg_relation_filepath($1) AS file", [table]);
  await runStatement(serverUrl, "CHECKPOINT");
  const program = `dd of=${String(row?.["file"])} bs=8192 count=1 iflag=fullblock conv=notrunc`;
  await runStatement(serverUrl, `COPY (SELECT repeat('Z', 8192)) TO PROGRAM '${program}'`);
  // The server still has the page in memory, but a copy of the files reads it from the disk.
  const copy = `CREATE DATABASE "${name}_2" TEMPLATE "${name}" STRATEGY file_copy`;
  await runStatement(serverUrl, copy);
  await dropDatabase(serverUrl, name);
  await runStatement(serverUrl, `ALTER DATABASE "${name}_2" RENAME TO "${name}"`);
  await runStatement(toUrl(path), "UPDATE incarnation SET database_id = NULL");
}

/** Removes an unused database. */
export async function removeStored(path: string): Promise<void> {
  if (engine === "postgres") {
    return dropDatabase(getServer().serverUrl, new URL(toUrl(path)).pathname.slice(1));
  }
  for (const end of ["", "-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
}

/** Reads everything that is stored: the bytes of SQLite's files, or the rows of all tables on Postgres. */
export async function readAllStored(path: string): Promise<string> {
  if (engine === "postgres") return JSON.stringify(await dumpTables(path));
  const files = readdirSync(dirname(path)).filter((name) => name.startsWith(basename(path)));
  return files.map((name) => readFileSync(join(dirname(path), name), "latin1")).join("");
}

/** Lists each table with its rows as JSON, all read in one snapshot. */
async function dumpTables(path: string): Promise<[table: string, rows: string][]> {
  const client = await openConnection(toUrl(path));
  try {
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    const tables = await client.query<{ name: string }>(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()",
    );
    const dumped: [string, string][] = [];
    for (const { name } of tables.rows) {
      const query = `SELECT coalesce(json_agg(t), '[]')::text AS rows FROM "${name}" AS t`;
      const { rows } = await client.query<{ rows: string }>(query);
      dumped.push([name, rows[0]?.rows ?? "[]"]);
    }
    return dumped;
  } finally {
    await client.end();
  }
}

/** Replaces all rows of a database. */
async function loadTables(
  url: string,
  tables: readonly (readonly [table: string, rows: string])[],
): Promise<void> {
  const client = await openConnection(url);
  try {
    // Like pg_restore, without triggers and checks of references, so that tables can be loaded in any order.
    await client.query("SET session_replication_role = replica");
    for (const [table, rows] of tables) {
      const insert = `INSERT INTO "${table}" SELECT * FROM json_populate_recordset(NULL::"${table}", $1)`;
      await client.query(`DELETE FROM "${table}"`);
      await client.query(insert, [rows]);
    }
    // New rows must get numbers after those of the copied rows.
    const numbered = await client.query<{ name: string; key: string }>(
      `SELECT c.relname AS name, a.attname AS key
       FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
       WHERE a.attidentity <> '' AND c.relnamespace = current_schema()::regnamespace`,
    );
    for (const { name, key } of numbered.rows) {
      const next = `coalesce(max("${key}"), 0) + 1`;
      await client.query(
        `SELECT setval(pg_get_serial_sequence($1, $2), ${next}, false) FROM "${name}"`,
        [`"${name}"`, key],
      );
    }
    // The copy must count as the same database, not as a restored one.
    await client.query("UPDATE incarnation SET database_id = NULL");
  } finally {
    await client.end();
  }
}

function number(text: string): string {
  let count = 0;
  return text.replaceAll("?", () => `$${(count += 1)}`);
}
