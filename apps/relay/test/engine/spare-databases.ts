import { randomUUID } from "node:crypto";
import { openConnection } from "@agent/test-postgres";
import { openDatabaseOf } from "./database-of-path.ts";
import { getServer } from "./engine.ts";

/** The databases of closed relays, which still contain these relays' rows. */
const spares: string[] = [];

/**
 * A connection to each reused database. A new connection would first read the description of every table, which
 * takes ten times as long as emptying the tables.
 */
const connections = new Map<string, Awaited<ReturnType<typeof openConnection>>>();

async function connect(url: string) {
  let connection = connections.get(url);
  if (connection === undefined) {
    connection = await openConnection(url);
    // The server closes the connection at the end of the run.
    connection.on("error", () => {});
    connections.set(url, connection);
  }
  return connection;
}

/** Returns a new database or, in a tenth of the time, an emptied one. */
export async function acquireDatabase(): Promise<string> {
  const spare = spares.pop();
  if (spare === undefined) return openDatabaseOf(randomUUID());
  const connection = await connect(spare);
  await connection.query(getServer().reset);
  return spare;
}

/** Makes a database available again; its schema must still be that of the template. */
export function releaseDatabase(url: string): void {
  spares.push(url);
}
