import type { Migration } from "../database/migrate.ts";
import type { OpenResult } from "../database/open-result.ts";
import { createPostgresCheck } from "./check-postgres.ts";
import { describeDatabase } from "./connection-settings.ts";
import { inspectPostgres } from "./inspect-postgres.ts";
import { migratePostgres } from "./migrate-postgres.ts";
import { toPostgresRefusal } from "./postgres-refusal.ts";
import { createReadingPool } from "./reading-pool.ts";
import { createTransactionQueue } from "./transaction-queue.ts";
import { WritingConnection } from "./writing-connection.ts";

const DEFAULT_POOL_SIZE = 8;

export interface PostgresOptions {
  readonly url: string;
  readonly migrations: readonly Migration[];
  /** The most connections that read. */
  readonly poolSize?: number | undefined;
}

/**
 * Opens a Postgres database. It is locked against a second relay and inspected before the first write,
 * so a refused one is not changed.
 */
export async function openPostgres(options: PostgresOptions): Promise<OpenResult> {
  const { url, migrations, poolSize = DEFAULT_POOL_SIZE } = options;
  const name = describeDatabase(url);
  const connection = new WritingConnection(url);
  try {
    const client = await connection.acquire();
    const inspected = await inspectPostgres(client, { name, migrations });
    if (!inspected.ok) {
      await connection.close();
      return inspected;
    }
    const migrated = await migratePostgres(client, migrations);
    const pool = createReadingPool(url, poolSize);
    const queue = createTransactionQueue(connection);
    const fileCheck = createPostgresCheck(url);
    return {
      ok: true,
      migrated,
      fileCheck,
      storage: {
        read: pool.read,
        transaction: queue.transaction,
        onAgentsChanged: queue.onAgentsChanged,
        snapshot: pool.snapshot,
        // The server keeps replaced rows until it vacuums; the log and backups keep them as well.
        scrub: () => Promise.resolve(true),
        async close() {
          await Promise.all([fileCheck.stop(), queue.close()]);
          await connection.close();
          await pool.close();
        },
      },
    };
  } catch (error) {
    await connection.close();
    return toPostgresRefusal(error, name);
  }
}
