import type { Client } from "pg";
import type { CopyResult } from "../database/backup.ts";
import { refuseDatabase, type DatabaseRefusal } from "../database/database-refusal.ts";
import type { DatabaseInspection } from "../database/inspect-database.ts";
import type { Migration } from "../database/migrate.ts";
import type { InspectedStorage } from "../inspect-storage.ts";
import { createSlowClient, readAllTables } from "./check-postgres.ts";
import { describePlace } from "./connection-settings.ts";
import { inspectPostgres } from "./inspect-postgres.ts";
import { toPostgresRefusal } from "./postgres-refusal.ts";
import { createReadingPool } from "./reading/reading-pool.ts";

/** Reads a PostgreSQL database without a relay's lock, so that a relay may use it at the same time. */
export function inspectPostgresStorage(
  url: string,
  migrations: readonly Migration[],
): InspectedStorage {
  const name = describePlace(url);

  async function connect<T>(work: (client: Client) => Promise<T>): Promise<T | DatabaseRefusal> {
    const client = createSlowClient(url);
    try {
      await client.connect();
      return await work(client);
    } catch (error) {
      return toPostgresRefusal(error, name);
    } finally {
      await client.end();
    }
  }

  const inspect = async (client: Client): Promise<DatabaseInspection> => {
    const inspected = await inspectPostgres(client, { name, migrations });
    if (!inspected.ok) return inspected;
    return { ok: true, exists: inspected.applied.length > 0, applied: inspected.applied };
  };

  return {
    name,
    inspect: () => connect(inspect),
    check: () =>
      connect(async (client): Promise<CopyResult> => {
        const inspected = await inspect(client);
        if (!inspected.ok) return inspected;
        if (!inspected.exists) {
          return refuseDatabase("database.missing", `${name} has no tables of a relay`);
        }
        await readAllTables(client);
        return { ok: true };
      }),
    async readSnapshot(work) {
      const pool = createReadingPool(url, 1);
      try {
        return await pool.snapshot(work);
      } finally {
        await pool.close();
      }
    },
  };
}
