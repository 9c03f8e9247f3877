import { closeSync, openSync } from "node:fs";
import Sqlite from "better-sqlite3";
import { getSqliteCode } from "./sqlite-error.ts";

export interface FileLock {
  readonly release: () => void;
}

/**
 * Acquires the lock that excludes a second relay from the same files; undefined while another relay
 * holds it. SQLite uses locks of the system, which also end with a killed process, so no lock is left
 * behind.
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

/** Does not open an existing file, because closing it would release this process's locks on it. */
function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}
