import type { Migration } from "./database/migrate.ts";
import type { OpenResult } from "./database/open-result.ts";
import { openSqliteFile } from "./database/sqlite-file.ts";
import { openSqliteMemory } from "./database/sqlite-memory.ts";

export interface OpenOptions {
  /** Absent, or `:memory:`: nothing outlives the process. */
  readonly path?: string | undefined;
  readonly migrations: readonly Migration[];
}

/** Opens the storage and brings its schema up to date; `migrated` are the steps that were missing. */
export async function openStorage({ path, migrations }: OpenOptions): Promise<OpenResult> {
  if (path === undefined || path === ":memory:") return openSqliteMemory(migrations);
  return openSqliteFile(path, migrations);
}
