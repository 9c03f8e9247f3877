export {
  createDatabase,
  dropDatabase,
  ensureDatabase,
  ensureDatabaseSync,
  openConnection,
  runStatement,
  toDatabaseUrl,
} from "./databases.ts";
export { startPostgres, type PostgresServer } from "./postgres-server.ts";
