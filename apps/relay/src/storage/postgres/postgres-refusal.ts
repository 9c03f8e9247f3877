import { formatError } from "@agent/crypto";
import { DatabaseError } from "pg";
import { refuseDatabase, type DatabaseRefusal } from "../database/database-refusal.ts";
import { isPostgresOutage } from "./postgres-error.ts";
import { DatabaseLocked } from "./writing-connection.ts";

/** A page or an index of the server's files is not what it wrote. */
const DAMAGE_CODES = new Set(["XX001", "XX002"]);

/** Turns an error of the server or the network into a refusal. Any other is a bug and thrown again. */
export function toPostgresRefusal(error: unknown, name: string): DatabaseRefusal {
  if (error instanceof DatabaseLocked) {
    return refuseDatabase("database.locked", `${name} is in use by another program`);
  }
  if (!isPostgresOutage(error)) throw error;
  const detail = `${name}: ${formatError(error)}`;
  const isDamage = error instanceof DatabaseError && DAMAGE_CODES.has(error.code ?? "");
  return refuseDatabase(isDamage ? "database.damaged" : "database.unusable", detail);
}
