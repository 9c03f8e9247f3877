import Sqlite from "better-sqlite3";
import { createReader } from "../reader.ts";
import { Statements } from "../queries/statements.ts";
import type { Reader } from "../storage.ts";

/** Reads a snapshot of a database file, also while a relay uses it. */
export async function readDatabase<T>(
  path: string,
  work: (read: Reader) => Promise<T>,
): Promise<T> {
  const db = new Sqlite(path, { readonly: true, timeout: 5_000 });
  try {
    db.exec("BEGIN");
    return await work(createReader(db, new Statements(db)));
  } finally {
    db.close();
  }
}
