import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import Sqlite from "better-sqlite3";

/** "ARLY" in the file's header: tells a relay's database from any other SQLite file. */
export const APPLICATION_ID = 0x41524c59;

/**
 * Makes a database without tables that only its owner can read; SQLite gives `-wal` and `-shm` the
 * same mode. It appears whole or not at all, so that an empty file is always a damaged one.
 */
export function createDatabase(path: string): void {
  const empty = new Sqlite(":memory:");
  empty.pragma(`application_id = ${APPLICATION_ID}`);
  const bytes = empty.serialize();
  empty.close();

  const draft = `${path}-new`;
  // What lies there already may be open to others, or lead elsewhere.
  rmSync(draft, { force: true });
  const file = openSync(draft, "wx", 0o600);
  try {
    // Unlike `writeSync`, which may write a part of it.
    writeFileSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
  const directory = openSync(dirname(path), "r");
  fsyncSync(directory);
  closeSync(directory);
}
