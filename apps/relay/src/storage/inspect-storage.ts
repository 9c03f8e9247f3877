import { checkDatabase, type CopyResult } from "./database/backup.ts";
import { inspectDatabase, type DatabaseInspection } from "./database/inspect-database.ts";
import type { Migration } from "./database/migrate.ts";
import { readDatabase } from "./database/read-database.ts";
import type { DatabaseLocation } from "./open-storage.ts";
import { inspectPostgresStorage } from "./postgres/inspect-postgres-storage.ts";
import type { Reader } from "./storage.ts";

/** A database as the commands of an operator read it, also while a relay uses it. */
export interface InspectedStorage {
  /** The database as the operator is shown it. */
  readonly name: string;
  /** Checks that all of it can be read. */
  check(): Promise<CopyResult>;
  inspect(): Promise<DatabaseInspection>;
  readSnapshot<T>(work: (read: Reader) => Promise<T>): Promise<T>;
}

export function inspectStorage(
  { url, path = "" }: DatabaseLocation,
  migrations: readonly Migration[],
): InspectedStorage {
  if (url !== undefined) return inspectPostgresStorage(url, migrations);
  return {
    name: path,
    check: async () => checkDatabase(path, migrations),
    inspect: async () => inspectDatabase({ path, migrations }),
    readSnapshot: (work) => readDatabase(path, work),
  };
}
