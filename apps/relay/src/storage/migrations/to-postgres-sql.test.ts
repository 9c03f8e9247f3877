import { expect, test } from "vitest";
import { toPostgresSql } from "./to-postgres-sql.ts";

test.each([
  [
    "CREATE TABLE a (b TEXT NOT NULL, c INTEGER, d REAL, e BLOB) STRICT, WITHOUT ROWID;\nSELECT 1",
    'CREATE TABLE a (b TEXT COLLATE "C" NOT NULL, c BIGINT, d DOUBLE PRECISION, e BYTEA);\nSELECT 1',
  ],
  ["CREATE TABLE a (b INTEGER) STRICT", "CREATE TABLE a (b BIGINT)"],
  ["ALTER TABLE a ADD COLUMN b TEXT", 'ALTER TABLE a ADD COLUMN b TEXT COLLATE "C"'],
  ["CREATE FUNCTION f(a text) ...", "CREATE FUNCTION f(a text) ..."],
  ["UPDATE a SET b = 'a CONTEXT'", "UPDATE a SET b = 'a CONTEXT'"],
])("the statement %j is translated", (sqlite, postgres) => {
  expect(toPostgresSql(sqlite)).toBe(postgres);
});
