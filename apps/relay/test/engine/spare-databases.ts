import { randomUUID } from "node:crypto";
import { runStatement } from "@agent/test-postgres";
import { openDatabaseOf } from "./database-of-path.ts";
import { getServer } from "./engine.ts";

/** The databases of relays that were closed, with the rows that they left. */
const spares: string[] = [];

/** Returns a new database, or a used one without its rows, which takes a tenth of the time. */
export async function acquireDatabase(): Promise<string> {
  const spare = spares.pop();
  if (spare === undefined) return openDatabaseOf(randomUUID());
  await runStatement(spare, getServer().reset);
  return spare;
}

/** Keeps a database whose schema is still that of the template. */
export function releaseDatabase(url: string): void {
  spares.push(url);
}
