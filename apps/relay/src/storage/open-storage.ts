import type { Migration } from "./database/migrate.ts";
import type { OpenResult } from "./database/open-result.ts";
import { openSqliteFile } from "./database/sqlite-file.ts";
import { openSqliteMemory } from "./database/sqlite-memory.ts";
import { openPostgres, type SharedUse } from "./postgres/open-postgres.ts";

/**
 * The location of the data: a PostgreSQL database, a file, or memory, whose data is lost when the process
 * ends.
 */
export interface DatabaseLocation {
  readonly url?: string | undefined;
  /** `:memory:` is the same as no path. */
  readonly path?: string | undefined;
  /** The address for notifications between processes; without it they only poll every second. */
  readonly listenUrl?: string | undefined;
  /** The most connections of Postgres that read. */
  readonly poolSize?: number | undefined;
}

export interface OpenOptions extends DatabaseLocation {
  readonly migrations: readonly Migration[];
  /** Lets other processes use a PostgreSQL database at the same time, if they also request this. */
  readonly shared?: SharedUse | undefined;
}

/** Opens the storage and updates its schema; `migrated` lists the applied steps. */
export async function openStorage({ url, path, ...options }: OpenOptions): Promise<OpenResult> {
  if (url !== undefined) return openPostgres({ url, ...options });
  const { migrations } = options;
  if (path === undefined || path === ":memory:") return openSqliteMemory(migrations);
  return openSqliteFile(path, migrations);
}
