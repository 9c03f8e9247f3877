import { statSync } from "node:fs";
import Sqlite, { type Database } from "better-sqlite3";
import { APPLICATION_ID, buildSchema, listSchemaParts } from "./build-schema.ts";
import { findMovedTo } from "../copying/moved-database.ts";
import { toDatabaseRefusal, refuseDatabase, type DatabaseRefusal } from "./database-refusal.ts";
import { checkStartTables } from "../check/check-tables.ts";
import {
  findUnknownMigration,
  listAppliedMigrations,
  type AppliedMigration,
  type Migration,
} from "./migrate.ts";

export type DatabaseInspection =
  | { readonly ok: true; readonly exists: boolean; readonly applied: readonly AppliedMigration[] }
  | DatabaseRefusal;

export interface InspectOptions {
  readonly path: string;
  readonly migrations: readonly Migration[];
  /**
   * `start` (default) reads the header, the schema and the tables that every start needs; its time does
   * not grow with the file. `full` reads every page and compares each index with its table.
   */
  readonly check?: "start" | "full";
  /** True accepts a file whose data was moved to another database. */
  readonly acceptMoved?: boolean;
}

/** The check of a killed relay may outlive it briefly, and may be what recovers its log. */
export const START_TIMEOUT_MS = 5_000;

/**
 * Checks that a file is a complete database of this schema or an older one, without changing it. A
 * missing file is accepted; an empty, damaged, foreign or newer one is refused.
 */
export function inspectDatabase(options: InspectOptions): DatabaseInspection {
  const { path } = options;
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
    const db = new Sqlite(path, { readonly: true, timeout: START_TIMEOUT_MS });
    try {
      return inspectOpened(db, options);
    } finally {
      db.close();
    }
  } catch (error) {
    return toDatabaseRefusal(error, path);
  }
}

function inspectOpened(
  db: Database,
  { path, migrations, check = "start", acceptMoved = false }: InspectOptions,
): DatabaseInspection {
  const movedTo = findMovedTo(db);
  if (movedTo !== undefined && !acceptMoved) {
    const detail = `${path} was moved to the database ${movedTo}: start the relay with its AGENT_DATABASE_URL`;
    return refuseDatabase("database.moved", detail);
  }
  const isRelay = db.pragma("application_id", { simple: true }) === APPLICATION_ID;
  if (!isRelay && movedTo === undefined) {
    return refuseDatabase("database.foreign", `${path} is not a database of a relay`);
  }
  const pages = check === "full" ? checkAllPages(db, path) : checkStartTables(db, path);
  if (!pages.ok) return pages;

  const applied = listAppliedMigrations(db);
  const unknown = findUnknownMigration(applied, migrations);
  if (unknown !== undefined) {
    const detail = `${path} has the migration ${unknown}, which this version does not know`;
    return refuseDatabase("database.newer", detail);
  }
  const steps =
    applied.length < migrations.length ? migrations.slice(0, applied.length) : migrations;
  const missing = listMissingParts(db, steps).filter(
    // The first releases recorded only the id of a step.
    (part) => part !== "column schema_migrations.oldest",
  );
  if (missing.length > 0) {
    return refuseDatabase("database.damaged", `${path} lacks ${missing.join(", ")}`);
  }
  return { ok: true, exists: true, applied };
}

function checkAllPages(db: Database, path: string): { ok: true } | DatabaseRefusal {
  const fault = db.pragma("integrity_check(1)", { simple: true });
  return fault === "ok"
    ? { ok: true }
    : refuseDatabase("database.damaged", `${path}: ${String(fault)}`);
}

/** Compares with a new database of the same version. Additions of an operator are ignored. */
function listMissingParts(db: Database, migrations: readonly Migration[]): string[] {
  const present = new Set(listSchemaParts(db));
  return buildSchema(migrations).parts.filter((part) => !present.has(part));
}
