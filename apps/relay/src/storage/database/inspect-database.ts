import { statSync } from "node:fs";
import Sqlite, { type Database } from "better-sqlite3";
import { APPLICATION_ID } from "./create-database.ts";
import { toDatabaseRefusal, refuseDatabase, type DatabaseRefusal } from "./database-refusal.ts";
import { listAppliedMigrations, migrate, type Migration } from "./migrate.ts";

export type Inspection =
  | { readonly ok: true; readonly exists: boolean; readonly applied: readonly string[] }
  | DatabaseRefusal;

export interface InspectOptions {
  readonly path: string;
  readonly migrations: readonly Migration[];
  /** `quick` (default) reads every page; `full` also compares each index with its table. */
  readonly check?: "quick" | "full";
}

/**
 * Checks that a file is a complete database of this schema or an older one, without changing it. A
 * missing file is accepted; an empty, damaged, foreign or newer one is refused.
 */
export function inspectDatabase({ path, migrations, check = "quick" }: InspectOptions): Inspection {
  try {
    const file = statSync(path, { throwIfNoEntry: false });
    const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
    if (file === undefined) {
      return log === undefined || log.size === 0
        ? { ok: true, exists: false, applied: [] }
        : refuseDatabase("database.damaged", `${path}-wal is there without its database`);
    }
    if (!file.isFile()) return refuseDatabase("database.foreign", `${path} is not a file`);
    if (file.size === 0) return refuseDatabase("database.damaged", `${path} is empty`);
    const db = new Sqlite(path, { readonly: true, timeout: 50 });
    try {
      return inspectOpened(db, path, migrations, check);
    } finally {
      db.close();
    }
  } catch (error) {
    return toDatabaseRefusal(error, path);
  }
}

function inspectOpened(
  db: Database,
  path: string,
  migrations: readonly Migration[],
  check: "quick" | "full",
): Inspection {
  if (db.pragma("application_id", { simple: true }) !== APPLICATION_ID) {
    return refuseDatabase("database.foreign", `${path} is not a database of a relay`);
  }
  const fault = db.pragma(check === "full" ? "integrity_check(1)" : "quick_check(1)", {
    simple: true,
  });
  if (fault !== "ok") return refuseDatabase("database.damaged", `${path}: ${String(fault)}`);

  const applied = listAppliedMigrations(db);
  const unknown = applied.find((id, at) => migrations[at]?.id !== id);
  if (unknown !== undefined) {
    const detail = `${path} has the migration ${unknown}, which this version does not know`;
    return refuseDatabase("database.newer", detail);
  }
  const missing = listMissingObjects(db, migrations.slice(0, applied.length));
  if (missing.length > 0) {
    return refuseDatabase("database.damaged", `${path} lacks ${missing.join(", ")}`);
  }
  return { ok: true, exists: true, applied };
}

/** Compares with a new database of the same version. Additions of an operator are ignored. */
function listMissingObjects(db: Database, migrations: readonly Migration[]): string[] {
  const fresh = new Sqlite(":memory:");
  try {
    migrate(fresh, migrations);
    const present = new Set(listSchemaObjects(db));
    return listSchemaObjects(fresh).filter((part) => !present.has(part));
  } finally {
    fresh.close();
  }
}

/** Lists tables with their columns, indexes, triggers and views. */
function listSchemaObjects(db: Database): string[] {
  const objects = db.prepare("SELECT type || ' ' || name FROM sqlite_schema").pluck().all();
  const columns = db
    .prepare(
      `SELECT 'column ' || t.name || '.' || c.name
       FROM sqlite_schema AS t, pragma_table_xinfo(t.name) AS c WHERE t.type = 'table'`,
    )
    .pluck()
    .all();
  return [...objects, ...columns] as string[];
}
