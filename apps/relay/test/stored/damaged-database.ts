import { readFileSync, writeFileSync } from "node:fs";
import Sqlite from "better-sqlite3";

/** Fills the table of idempotency keys in a closed database with rows on many pages. */
export function fillDatabase(path: string): void {
  const db = new Sqlite(path);
  db.prepare(
    `INSERT INTO idempotency_keys (scope, key, request_hash, status, body, created_at)
     WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT 5000)
     SELECT 'filled', printf('%08d', value), '', 200, hex(zeroblob(100)), 1e15 FROM n`,
  ).run();
  db.pragma("wal_checkpoint(TRUNCATE)");
  db.close();
}

/** Overwrites the last page of a table in a closed database. */
export function damageTable(path: string, table: string): void {
  const db = new Sqlite(path, { readonly: true });
  const page = db
    .prepare("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY pageno DESC")
    .pluck()
    .get(table) as number;
  const size = db.pragma("page_size", { simple: true }) as number;
  db.close();
  const bytes = readFileSync(path);
  bytes.fill(0x5a, (page - 1) * size, page * size);
  writeFileSync(path, bytes);
}
