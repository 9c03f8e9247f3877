import { DatabaseError } from "pg";
import { StorageUnavailable } from "../storage.ts";

/** Other work was in the way; the same transaction can succeed when it runs again. */
const CONFLICT_CODES = new Set(["40001", "40P01", "55P03"]);

/** Classes of errors of the server or the machine: connection, resources, operator, system, internal. */
const OUTAGE_CLASSES = new Set(["08", "53", "57", "58", "XX"]);

/** A server that is read-only, for example a standby; a transaction that was idle for too long. */
const OUTAGE_CODES = new Set([...CONFLICT_CODES, "25006", "25P03"]);

export function isConflict(error: unknown): boolean {
  const isKnown = error instanceof DatabaseError && CONFLICT_CODES.has(error.code ?? "");
  return isKnown || isStaleStatement(error);
}

/** Whether a newer version has changed a table since the statement was prepared on this connection. */
export function isStaleStatement(error: unknown): boolean {
  return error instanceof DatabaseError && error.routine === "RevalidateCachedQuery";
}

const UNIQUE_VIOLATION = "23505";

/** Whether a key was taken, by this transaction's own fault or by another one. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === UNIQUE_VIOLATION;
}

/**
 * Whether the connection ended or cannot be relied on: every error of the driver that the server did not
 * answer with, except for a value that was wrong.
 */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof RangeError || error instanceof TypeError) return false;
  if (!(error instanceof DatabaseError)) return true;
  return error.severity === "FATAL" || error.severity === "PANIC";
}

/** Whether the machine failed and not the statement. */
export function isPostgresOutage(error: unknown): boolean {
  if (isConnectionLost(error)) return true;
  const code = error instanceof DatabaseError ? (error.code ?? "") : "";
  return OUTAGE_CODES.has(code) || OUTAGE_CLASSES.has(code.slice(0, 2));
}

/** Turns an outage of the driver's call into the error that is answered with 503; others stay as they are. */
export function toStorageError(error: unknown): unknown {
  if (error instanceof StorageUnavailable || !isPostgresOutage(error)) return error;
  return new StorageUnavailable("the database did not answer", { cause: error });
}
