import type { Database } from "better-sqlite3";
import type { GroupCommit } from "./writing/group-commit.ts";
import { isOutage } from "./database/sqlite-error.ts";
import type { Statements } from "./queries/statements.ts";
import { StorageUnavailable, type Reader } from "./storage.ts";

/**
 * Reads on one connection, at once or `between` its transactions. Distinguishes an outage from a wrong
 * statement.
 */
export function createReader(
  db: Database,
  statements: Statements,
  between: GroupCommit["runBetweenBatches"] = async (work) => work(),
): Reader {
  function read<T>(query: () => T): T {
    if (!db.open) throw new StorageUnavailable("the storage is closed");
    try {
      return query();
    } catch (cause) {
      if (isOutage(cause)) throw new StorageUnavailable("the database could not read", { cause });
      throw cause;
    }
  }
  return {
    get: (query, params) => between(() => read(() => statements.get(query, params))),
    all: (query, params) => between(() => read(() => statements.all(query, params))),
  };
}
