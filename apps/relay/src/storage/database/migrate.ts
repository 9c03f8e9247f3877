import type { Database } from "better-sqlite3";

/** One step of the schema. A released step is never edited, only followed by another. */
export interface Migration {
  readonly id: string;
  /** One text for both engines, translated by `toPostgresSql`, or one for each. */
  readonly sql: string | { readonly sqlite: string; readonly postgres: string };
  /** The whole schema after this step; a new Postgres database begins with it. */
  readonly postgresBaseline?: string;
  /**
   * The id of the last step that a program must know to work on the schema after this one. Without it
   * this step itself: older programs refuse the database.
   */
  readonly oldest?: string;
}

/** A step that a database has recorded. */
export interface AppliedMigration {
  readonly id: string;
  /** The minimum number of known steps that a program needs to work with it; null in older databases. */
  readonly oldest: number | null;
}

/** Returns the value of `oldest` that is recorded for the step at a position, counted from 1. */
export function getOldestPosition(migrations: readonly Migration[], at: number): number {
  const oldest = migrations[at]?.oldest;
  const position = migrations.findIndex(({ id }) => id === oldest);
  return 1 + (position === -1 ? at : position);
}

/**
 * Finds a recorded step that prevents a program with these migrations from using the database. Steps
 * after the last known one do not, if they leave everything that this program uses.
 */
export function findUnknownMigration(
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
): string | undefined {
  const differing = applied.find(
    ({ id }, at) => at < migrations.length && migrations[at]?.id !== id,
  );
  if (differing !== undefined) return differing.id;
  const last = applied.at(-1);
  const oldest = last?.oldest ?? applied.length;
  return oldest > migrations.length ? applied[migrations.length]?.id : undefined;
}

export interface MigrationStatus {
  readonly id: string;
  readonly applied: boolean;
}

/** Lists what the database has recorded, oldest first. */
export function listAppliedMigrations(db: Database): AppliedMigration[] {
  const columns = db.pragma("table_info(schema_migrations)") as { readonly name: string }[];
  if (columns.length === 0) return [];
  const oldest = hasOldest(columns) ? "oldest" : "NULL AS oldest";
  const rows = `SELECT id, ${oldest} FROM schema_migrations ORDER BY position`;
  return db.prepare(rows).all() as AppliedMigration[];
}

function hasOldest(columns: readonly { readonly name: string }[]): boolean {
  return columns.some(({ name }) => name === "oldest");
}

export function toMigrationStatus(
  applied: readonly AppliedMigration[],
  migrations: readonly Migration[],
): MigrationStatus[] {
  return migrations.map(({ id }) => ({ id, applied: applied.some((step) => step.id === id) }));
}

/**
 * Applies the missing steps, each in its own transaction, and returns their ids. A step that fails or
 * leaves a broken reference throws, and the schema stays at the previous step.
 */
export function migrate(db: Database, migrations: readonly Migration[]): string[] {
  const applied = listAppliedMigrations(db).length;
  const missing = migrations.slice(applied);
  if (missing.length === 0) return [];
  createMigrationTable(db);
  const record = db.prepare("INSERT INTO schema_migrations VALUES (?, ?, ?)");
  const step = db.transaction(({ id, sql }: Migration, at: number) => {
    db.exec(typeof sql === "string" ? sql : sql.sqlite);
    const broken = db.pragma("foreign_key_check") as unknown[];
    if (broken.length > 0) throw new Error(`migration ${id} leaves broken references`);
    record.run(BigInt(at + 1), id, BigInt(getOldestPosition(migrations, at)));
  });

  // A table is changed by copying it, which references to it must not prevent.
  db.pragma("foreign_keys = OFF");
  try {
    for (const [at, migration] of missing.entries()) step.immediate(migration, applied + at);
  } finally {
    db.pragma("foreign_keys = ON");
  }
  return missing.map(({ id }) => id);
}

function createMigrationTable(db: Database): void {
  db.exec(
    "CREATE TABLE IF NOT EXISTS schema_migrations (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, oldest INTEGER) STRICT",
  );
  const columns = db.pragma("table_info(schema_migrations)") as { readonly name: string }[];
  if (!hasOldest(columns)) db.exec("ALTER TABLE schema_migrations ADD COLUMN oldest INTEGER");
}
