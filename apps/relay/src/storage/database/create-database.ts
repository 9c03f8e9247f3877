import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { buildSchema } from "./build-schema.ts";
import type { Migration } from "./migrate.ts";
import { syncFile } from "./sync-file.ts";

/**
 * Creates a database with all tables that only its owner can read, and returns the ids of its steps. SQLite
 * gives `-wal` and `-shm` the same mode. It appears only when it is complete, so an empty file is always a
 * damaged one.
 */
export function createDatabase(path: string, migrations: readonly Migration[]): string[] {
  const { image } = buildSchema(migrations);
  const draft = `${path}-new`;
  // An existing file may be readable by other users or link to another place.
  rmSync(draft, { force: true });
  const file = openSync(draft, "wx", 0o600);
  try {
    // `writeSync` may write only a part.
    writeFileSync(file, image);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
  syncFile(dirname(path));
  return migrations.map(({ id }) => id);
}
