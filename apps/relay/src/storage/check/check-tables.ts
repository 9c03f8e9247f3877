import type { Database } from "better-sqlite3";
import { refuseDatabase, type DatabaseRefusal } from "../database/database-refusal.ts";

/**
 * The tables without which a relay cannot start or does not know its identity. Their size does not depend
 * on the amount of work, so they are checked before every start.
 */
const START_TABLES = [
  "schema_migrations",
  "relay_identity",
  "relay_successions",
  "incarnation",
  "freeze",
  "clock",
  "federation_peers",
];

/** Lists the tables of a database, and the schema itself. */
export function listFileTables(db: Database): string[] {
  const names = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  return ["sqlite_schema", ...(names.pluck().all() as string[])];
}

/** Checks the schema and the tables that every start needs, as far as the database has them. */
export function checkStartTables(db: Database, path: string): { ok: true } | DatabaseRefusal {
  for (const table of listFileTables(db)) {
    if (table !== "sqlite_schema" && !START_TABLES.includes(table)) continue;
    const checked = checkFileTable(db, path, table);
    if (!checked.ok) return checked;
  }
  return { ok: true };
}

/** Reads every page of a table and of its indexes. */
export function checkFileTable(
  db: Database,
  path: string,
  table: string,
): { ok: true } | DatabaseRefusal {
  const quoted = `'${table.replaceAll("'", "''")}'`;
  const fault = db.pragma(`quick_check(${quoted})`, { simple: true });
  return fault === "ok"
    ? { ok: true }
    : refuseDatabase("database.damaged", `${path}: ${table}: ${String(fault)}`);
}
