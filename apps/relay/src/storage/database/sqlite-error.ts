import Sqlite from "better-sqlite3";

/** Returns the primary code of an SQLite error, such as SQLITE_IOERR for SQLITE_IOERR_WRITE. */
export function getSqliteCode(error: unknown): string | undefined {
  if (!(error instanceof Sqlite.SqliteError)) return undefined;
  return /^SQLITE_[A-Z]+/.exec(error.code)?.[0];
}

const outageCodes = new Set([
  "SQLITE_BUSY",
  "SQLITE_CANTOPEN",
  "SQLITE_FULL",
  "SQLITE_IOERR",
  "SQLITE_NOMEM",
  "SQLITE_PERM",
  "SQLITE_PROTOCOL",
  "SQLITE_READONLY",
]);

/** Whether the machine failed and not the statement. */
export function isOutage(error: unknown): boolean {
  const code = getSqliteCode(error);
  return code !== undefined && outageCodes.has(code);
}
