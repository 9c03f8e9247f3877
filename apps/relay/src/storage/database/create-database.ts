import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import Sqlite from "better-sqlite3";
import { syncFile } from "./sync-file.ts";

/** "ARLY" in the file header distinguishes a relay's database from other SQLite files. */
export const APPLICATION_ID = 0x41524c59;

/**
 * Creates a database without tables that only its owner can read. SQLite gives `-wal` and `-shm` the
 * same mode. It appears only when it is complete, so an empty file is always a damaged one.
 */
export function createDatabase(path: string): void {
  const empty = new Sqlite(":memory:");
  empty.pragma(`application_id = ${APPLICATION_ID}`);
  const bytes = empty.serialize();
  empty.close();

  const draft = `${path}-new`;
  // An existing file may be readable by other users or link to another place.
  rmSync(draft, { force: true });
  const file = openSync(draft, "wx", 0o600);
  try {
    // `writeSync` may write only a part.
    writeFileSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
  syncFile(dirname(path));
}
