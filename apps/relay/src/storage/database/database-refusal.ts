import { formatError } from "@agent/crypto";
import { isOutage, getSqliteCode } from "./sqlite-error.ts";

/** The reasons why a database file cannot be used. Each prevents the start. */
export type DatabaseCode =
  | "database.damaged"
  | "database.exists"
  | "database.foreign"
  | "database.locked"
  | "database.missing"
  | "database.moved"
  | "database.newer"
  | "database.older"
  | "database.unusable";

export interface DatabaseRefusal {
  readonly ok: false;
  readonly code: DatabaseCode;
  /** A text for the operator that names the file. */
  readonly detail: string;
}

export function refuseDatabase(code: DatabaseCode, detail: string): DatabaseRefusal {
  return { ok: false, code, detail };
}

/** Turns an error of the system or of SQLite into a refusal. Any other error is a bug and thrown again. */
export function toDatabaseRefusal(error: unknown, path: string): DatabaseRefusal {
  const detail = `${path}: ${formatError(error)}`;
  const code = getSqliteCode(error);
  if (code === "SQLITE_NOTADB") return refuseDatabase("database.foreign", detail);
  if (code === "SQLITE_CORRUPT") return refuseDatabase("database.damaged", detail);
  if (code === "SQLITE_BUSY") return refuseDatabase("database.locked", detail);
  if (isOutage(error) || isSystemError(error)) return refuseDatabase("database.unusable", detail);
  throw error;
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}
