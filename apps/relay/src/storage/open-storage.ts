import type { DatabaseRefusal } from "./database/database-refusal.ts";
import type { Migration } from "./database/migrate.ts";
import { openSqliteFile } from "./database/sqlite-file.ts";
import { openSqliteMemory } from "./database/sqlite-memory.ts";
import type { Storage } from "./storage.ts";

export interface OpenOptions {
  /** Absent, or `:memory:`: nothing outlives the process. */
  readonly path?: string | undefined;
  readonly migrations: readonly Migration[];
}

export type OpenResult =
  | { readonly ok: true; readonly storage: Storage; readonly migrated: readonly string[] }
  | DatabaseRefusal;

/** Opens the storage and brings its schema up to date; `migrated` are the steps that were missing. */
export async function openStorage({ path, migrations }: OpenOptions): Promise<OpenResult> {
  if (path === undefined || path === ":memory:") return openSqliteMemory(migrations);
  return openSqliteFile(path, migrations);
}
