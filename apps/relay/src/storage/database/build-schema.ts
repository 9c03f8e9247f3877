import Sqlite, { type Database } from "better-sqlite3";
import { migrate, type Migration } from "./migrate.ts";

/** "ARLY" in the file header distinguishes a relay's database from other SQLite files. */
export const APPLICATION_ID = 0x41524c59;

export interface Schema {
  /** The bytes of a new database after the steps. */
  readonly image: Buffer;
  /** The names of its tables, columns, indexes, triggers and views. */
  readonly parts: readonly string[];
}

const schemas = new WeakMap<readonly Migration[], Schema>();

/** Builds the schema in memory, once per list of steps, because running them is most of the cost of a start. */
export function buildSchema(migrations: readonly Migration[]): Schema {
  const known = schemas.get(migrations);
  if (known !== undefined) return known;
  const db = new Sqlite(":memory:");
  try {
    db.pragma(`application_id = ${APPLICATION_ID}`);
    migrate(db, migrations);
    const schema = { image: db.serialize(), parts: listSchemaParts(db) };
    schemas.set(migrations, schema);
    return schema;
  } finally {
    db.close();
  }
}

export function listSchemaParts(db: Database): string[] {
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
