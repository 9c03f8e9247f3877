import { randomUUID } from "node:crypto";
import { openConnection } from "@agent/test-postgres";
import { openDatabaseOf } from "./database-of-path.ts";
import { getServer } from "./engine.ts";

/** The databases of relays that were closed, with the rows that they left. */
const spares: string[] = [];

/**
 * A connection to each database that was used again. A new one would first read the description of every
 * table, which takes ten times as long as emptying them.
 */
const connections = new Map<string, Awaited<ReturnType<typeof openConnection>>>();

async function connect(url: string) {
  let connection = connections.get(url);
  if (connection === undefined) {
    connection = await openConnection(url);
    // The server ends it with the run.
    connection.on("error", () => {});
    connections.set(url, connection);
  }
  return connection;
}

/** Returns a new database, or a used one without its rows, which takes a tenth of the time. */
export async function acquireDatabase(): Promise<string> {
  const spare = spares.pop();
  if (spare === undefined) return openDatabaseOf(randomUUID());
  const connection = await connect(spare);
  await connection.query(getServer().reset);
  return spare;
}

/** Keeps a database whose schema is still that of the template. */
export function releaseDatabase(url: string): void {
  spares.push(url);
}
