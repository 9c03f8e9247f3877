/** The PostgreSQL type of each type of SQLite. Texts compare by their bytes, as SQLite compares them. */
const WORDS: Readonly<Record<string, string>> = {
  INTEGER: "BIGINT",
  TEXT: 'TEXT COLLATE "C"',
  REAL: "DOUBLE PRECISION",
  BLOB: "BYTEA",
};

/**
 * Translates the definitions of a migration: the types in capitals and the options of a table. Anything
 * else is passed on as it is, so a step that needs another statement in PostgreSQL brings its own text.
 */
export function toPostgresSql(sql: string): string {
  return sql
    .replace(/\) STRICT(?:, WITHOUT ROWID)?(?=\s*(?:;|$))/g, ")")
    .replace(/\b(?:INTEGER|TEXT|REAL|BLOB)\b/g, (word) => WORDS[word] ?? word);
}
