import { isDeepStrictEqual } from "node:util";
import Sqlite, { type Database } from "better-sqlite3";
import type { Client } from "pg";
import {
  refuseDatabase,
  toDatabaseRefusal,
  type DatabaseRefusal,
} from "../database/database-refusal.ts";
import { acquireFileLock } from "../database/file-lock.ts";
import { inspectDatabase } from "../database/inspect-database.ts";
import type { Migration } from "../database/migrate.ts";
import { describePlace } from "../postgres/connection-settings.ts";
import { openPostgres } from "../postgres/open-postgres.ts";
import { toPostgresRefusal } from "../postgres/postgres-refusal.ts";
import { WritingConnection } from "../postgres/writing-connection.ts";
import { listCopiedTables, sumSource, sumTarget, type CopiedTable } from "./copied-tables.ts";
import { copyRows } from "./copy-rows.ts";
import { findMovedTo, markMoved } from "./moved-database.ts";

export interface DatabaseCopy {
  readonly ok: true;
  /** Host and database of the target. */
  readonly place: string;
  /** The copied rows by table; undefined if an earlier call had copied them. */
  readonly rows: Readonly<Record<string, number>> | undefined;
}

export interface CopyOptions {
  /** The SQLite file. */
  readonly from: string;
  /** The address of an empty Postgres database. */
  readonly to: string;
  readonly migrations: readonly Migration[];
}

/**
 * Moves the database of a stopped relay from a SQLite file to an empty PostgreSQL database, and marks the
 * file, so that no second relay starts from it. Everything is one transaction of the server: an interrupted
 * call leaves nothing there and can be repeated.
 */
export async function copyDatabase(options: CopyOptions): Promise<DatabaseCopy | DatabaseRefusal> {
  const { from } = options;
  const inspected = inspectDatabase({
    path: from,
    migrations: options.migrations,
    check: "full",
    acceptMoved: true,
  });
  if (!inspected.ok) return inspected;
  if (!inspected.exists) return refuseDatabase("database.missing", `${from} does not exist`);
  if (inspected.applied.length < options.migrations.length) {
    return refuseDatabase("database.older", `${from} must be migrated first`);
  }
  const lock = acquireFileLock(`${from}-lock`);
  if (lock === undefined) return refuseDatabase("database.locked", `${from} is in use by a relay`);
  let source: Database | undefined;
  try {
    source = new Sqlite(from, { fileMustExist: true });
    source.pragma("synchronous = FULL");
    return await copyOpened(source, options);
  } catch (error) {
    return toDatabaseRefusal(error, from);
  } finally {
    source?.close();
    lock.release();
  }
}

async function copyOpened(
  source: Database,
  { from, to, migrations }: CopyOptions,
): Promise<DatabaseCopy | DatabaseRefusal> {
  const place = describePlace(to);
  const movedTo = findMovedTo(source);
  if (movedTo !== undefined && movedTo !== place) {
    return refuseDatabase("database.moved", `${from} was moved to ${movedTo}`);
  }
  const opened = await openPostgres({ url: to, migrations });
  if (!opened.ok) return opened;
  await opened.storage.close();
  const connection = new WritingConnection(to, { isShared: false });
  try {
    const target = await connection.acquire();
    const tables = await listCopiedTables(target, migrations);
    if (!(await isEmpty(target, tables))) {
      return movedTo !== undefined && (await hasSameIdentity(source, target))
        ? { ok: true, place, rows: undefined }
        : refuseDatabase("database.exists", `${place} is not empty`);
    }
    return await copyTables(source, target, { tables, place });
  } catch (error) {
    return toPostgresRefusal(error, place);
  } finally {
    await connection.close();
  }
}

async function isEmpty(target: Client, tables: readonly CopiedTable[]): Promise<boolean> {
  for (const { name, seededRows } of tables) {
    const some = `SELECT 1 FROM "${name}" LIMIT ${seededRows + 1}`;
    if ((await target.query(some)).rows.length > seededRows) return false;
  }
  return true;
}

async function hasSameIdentity(source: Database, target: Client): Promise<boolean> {
  const identity = "SELECT relay_id FROM relay_identity";
  const { rows } = await target.query<{ relay_id: string }>(identity);
  return rows[0]?.relay_id === source.prepare(identity).pluck().get();
}

/**
 * Copies and compares before the commit. The file is also marked before the commit: a crash between the two
 * leaves a file that starts no relay but can be copied again.
 */
async function copyTables(
  source: Database,
  target: Client,
  { tables, place }: { readonly tables: readonly CopiedTable[]; readonly place: string },
): Promise<DatabaseCopy | DatabaseRefusal> {
  const rows: Record<string, number> = {};
  await target.query("BEGIN");
  await target.query(
    "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0",
  );
  for (const table of tables) {
    await copyRows(source, target, table);
    const sums = sumSource(source, table);
    if (!isDeepStrictEqual(sums, await sumTarget(target, table))) {
      await target.query("ROLLBACK");
      return refuseDatabase("database.damaged", `${table.name} is not the same in ${place}`);
    }
    rows[table.name] = Number(sums["rows"]);
  }
  markMoved(source, place);
  const { command } = await target.query("COMMIT");
  if (command !== "COMMIT") throw new Error("the server rolled the copy back");
  return { ok: true, place, rows };
}
