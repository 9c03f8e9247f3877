/**
 * The PostgreSQL database in which the relay last started, so that a restored or copied one is known by
 * another. It stays empty in SQLite, where the command `restore` begins the incarnation.
 */
export const databaseOrigin = {
  id: "046-database-origin",
  sql: "ALTER TABLE incarnation ADD COLUMN database_id TEXT;",
};
