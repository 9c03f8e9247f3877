/** The PostgreSQL type of each type of SQLite. Texts compare by their bytes, as SQLite compares them. */
const WORDS: Readonly<Record<string, string>> = {
  INTEGER: "BIGINT",
  TEXT: 'TEXT COLLATE "C"',
  REAL: "DOUBLE PRECISION",
  BLOB: "BYTEA",
};

/**
 * Translates the definitions of a migration: types in capitals and table options. Everything else is passed
 * on unchanged, so a step that needs another statement on PostgreSQL provides its own text.
 */
export function toPostgresSql(sql: string): string {
  return sql
    .replace(/\) STRICT(?:, WITHOUT ROWID)?(?=\s*(?:;|$))/g, ")")
    .replace(/\b(?:INTEGER|TEXT|REAL|BLOB)\b/g, (word) => WORDS[word] ?? word);
}
