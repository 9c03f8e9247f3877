import type { Database } from "better-sqlite3";

/** One step of the schema. A released step is never edited, only followed by another. */
export interface Migration {
  readonly id: string;
  readonly sql: string;
}

export interface MigrationStatus {
  readonly id: string;
  readonly applied: boolean;
}

/** Lists the ids that the database has recorded, oldest first. */
export function listAppliedMigrations(db: Database): string[] {
  const table = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migrations'";
  if (db.prepare(table).get() === undefined) return [];
  return db.prepare("SELECT id FROM schema_migrations ORDER BY position").pluck().all() as string[];
}

export function toMigrationStatus(
  applied: readonly string[],
  migrations: readonly Migration[],
): MigrationStatus[] {
  return migrations.map(({ id }) => ({ id, applied: applied.includes(id) }));
}

/**
 * Applies the missing steps, each in its own transaction, and returns their ids. A step that fails or
 * leaves a broken reference throws and leaves the schema at the step before it.
 */
export function migrate(db: Database, migrations: readonly Migration[]): string[] {
  const missing = migrations.slice(listAppliedMigrations(db).length);
  if (missing.length === 0) return [];
  db.exec(
    "CREATE TABLE IF NOT EXISTS schema_migrations (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE) STRICT",
  );
  const record = db.prepare("INSERT INTO schema_migrations (id) VALUES (?)");
  const step = db.transaction(({ id, sql }: Migration) => {
    db.exec(sql);
    const broken = db.pragma("foreign_key_check") as unknown[];
    if (broken.length > 0) throw new Error(`migration ${id} leaves broken references`);
    record.run(id);
  });

  // A table is changed by copying it, which references to it must not prevent.
  db.pragma("foreign_keys = OFF");
  try {
    for (const migration of missing) step.immediate(migration);
  } finally {
    db.pragma("foreign_keys = ON");
  }
  return missing.map(({ id }) => id);
}
