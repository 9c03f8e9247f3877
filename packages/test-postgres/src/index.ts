export {
  createDatabase,
  dropDatabase,
  ensureDatabase,
  ensureDatabaseSync,
  openConnection,
  runStatement,
  toDatabaseUrl,
} from "./databases.ts";
export { startPostgres, startReplica, type PostgresServer } from "./postgres-server.ts";
export { requireReplica } from "./require-replica.ts";
export { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";
