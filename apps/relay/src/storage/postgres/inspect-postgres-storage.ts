import { Client } from "pg";
import type { CopyResult } from "../database/backup.ts";
import { refuseDatabase, type DatabaseRefusal } from "../database/database-refusal.ts";
import type { Inspection } from "../database/inspect-database.ts";
import type { Migration } from "../database/migrate.ts";
import type { InspectedStorage } from "../inspect-storage.ts";
import { describeDatabase, toClientConfig } from "./connection-settings.ts";
import { inspectPostgres } from "./inspect-postgres.ts";
import { toPostgresRefusal } from "./open-postgres.ts";
import { createReadingPool } from "./reading-pool.ts";

/** Reads a Postgres database without the lock of a relay, so one may use it meanwhile. */
export function inspectPostgresStorage(
  url: string,
  migrations: readonly Migration[],
): InspectedStorage {
  const name = describeDatabase(url);

  async function connect<T>(work: (client: Client) => Promise<T>): Promise<T | DatabaseRefusal> {
    // A whole table is read by one statement, which may take longer than a request allows.
    const client = new Client({ ...toClientConfig(url), statement_timeout: 0, query_timeout: 0 });
    client.on("error", () => {});
    try {
      await client.connect();
      return await work(client);
    } catch (error) {
      return toPostgresRefusal(error, name);
    } finally {
      await client.end();
    }
  }

  const inspect = async (client: Client): Promise<Inspection> => {
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

/** Reads each page, so that the server compares its checksum, if the cluster has checksums. */
async function readAllTables(client: Client): Promise<void> {
  const names = await client.query<{ name: string }>(
    "SELECT quote_ident(relname) AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace",
  );
  for (const { name } of names.rows) {
    await client.query(`SELECT count(*) FROM ${name} AS stored WHERE stored IS NOT NULL`);
  }
}
