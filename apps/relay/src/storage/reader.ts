import type { Database } from "better-sqlite3";
import { isOutage } from "./sqlite-error.ts";
import type { Statements } from "./statements.ts";
import { StorageUnavailable, type Reader } from "./storage.ts";

/** Reads on one connection, each once `settled`; an outage is told apart from a wrong statement. */
export function createReader(
  db: Database,
  statements: Statements,
  settled: () => Promise<void> = async () => {},
): Reader {
  async function read<T>(query: () => T): Promise<T> {
    await settled();
    if (!db.open) throw new StorageUnavailable("the storage is closed");
    try {
      return query();
    } catch (cause) {
      if (isOutage(cause)) throw new StorageUnavailable("the database could not read", { cause });
      throw cause;
    }
  }
  return {
    get: (query, params) => read(() => statements.get(query, params)),
    all: (query, params) => read(() => statements.all(query, params)),
  };
}
