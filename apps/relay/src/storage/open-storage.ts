import type { Migration } from "./database/migrate.ts";
import type { OpenResult } from "./database/open-result.ts";
import { openSqliteFile } from "./database/sqlite-file.ts";
import { openSqliteMemory } from "./database/sqlite-memory.ts";

export interface OpenOptions {
  /** Without it, or with `:memory:`, the data ends with the process. */
  readonly path?: string | undefined;
  readonly migrations: readonly Migration[];
}

/** Opens the storage and updates its schema; `migrated` lists the applied steps. */
export async function openStorage({ path, migrations }: OpenOptions): Promise<OpenResult> {
  if (path === undefined || path === ":memory:") return openSqliteMemory(migrations);
  return openSqliteFile(path, migrations);
}
