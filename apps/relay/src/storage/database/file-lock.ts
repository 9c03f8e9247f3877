import { closeSync, openSync } from "node:fs";
import Sqlite from "better-sqlite3";
import { getSqliteCode } from "./sqlite-error.ts";

export interface FileLock {
  readonly release: () => void;
}

/**
 * Takes the lock that keeps a second relay off the same files, or answers undefined while another
 * one holds it. SQLite locks the file with the system's own locks, which also end with a process
 * that was killed, so a lock is never left behind.
 */
export function acquireFileLock(path: string): FileLock | undefined {
  createPrivateFile(path);
  const holder = new Sqlite(path, { timeout: 0 });
  try {
    holder.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    holder.close();
    if (getSqliteCode(error) === "SQLITE_BUSY") return undefined;
    throw error;
  }
  return { release: () => void holder.close() };
}

/** An existing file is not opened: closing it would drop the locks this process holds on it. */
function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}
