import type { Client } from "pg";
import type { Runtime } from "../../runtime.ts";
import { refuseDatabase, type DatabaseRefusal } from "../database/database-refusal.ts";
import { getOldestPosition, type Migration } from "../database/migrate.ts";
import type { OpenResult } from "../database/open-result.ts";
import { unsharedStorage, type Hints, type Reader } from "../storage.ts";
import { createPostgresCheck } from "./check-postgres.ts";
import { describePlace } from "./connection-settings.ts";
import { createHintChannel } from "./hint-channel.ts";
import { inspectPostgres } from "./inspect-postgres.ts";
import { migratePostgres } from "./migrate-postgres.ts";
import { isConflict } from "./postgres-error.ts";
import { toPostgresRefusal } from "./postgres-refusal.ts";
import { createReadingPool } from "./reading/reading-pool.ts";
import { createPostgresGroupCommit } from "./postgres-group-commit.ts";
import {
  DatabaseLocked,
  hasOlderSession,
  RELAY_LOCK,
  WritingConnection,
} from "./writing-connection.ts";

const DEFAULT_POOL_SIZE = 8;
/** One can wait for the row of the lease, which a transaction of the leader keeps as it is. */
const RESERVED_CONNECTIONS = 2;

/** The parts of a process that shares its database with others. */
export interface SharedUse {
  /** The timer with which hints to other processes are collected. */
  readonly schedule: Runtime["schedule"];
}

export interface PostgresOptions {
  readonly url: string;
  readonly migrations: readonly Migration[];
  /** The most connections that read. */
  readonly poolSize?: number | undefined;
  /** The address at which hints of other processes arrive; undefined if changes are found only by polling. */
  readonly listenUrl?: string | undefined;
  /** Lets other processes of the relay use the database at the same time. */
  readonly shared?: SharedUse | undefined;
}

/** Held while a process inspects and updates the schema, so that only one does at a time. */
export const START_LOCK = RELAY_LOCK + 1;
const MAX_START_WAIT_MS = 60_000;
/** A process that stands still while it starts must not keep the others waiting until they give up. */
const MAX_START_PAUSE_MS = 10_000;

/**
 * Opens a Postgres database. It is locked, against commands or every other program, and inspected
 * before the first write, so a refused one is not changed.
 */
export async function openPostgres(options: PostgresOptions): Promise<OpenResult> {
  const { url, migrations, poolSize = DEFAULT_POOL_SIZE, shared } = options;
  const isShared = shared !== undefined;
  const name = describePlace(url);
  const connection = new WritingConnection(url, {
    isShared,
    ...(isShared && { position: migrations.length }),
  });
  try {
    const client = await connection.acquire();
    const updated = await updateSchema(client, { name, migrations, isShared });
    if (!updated.ok) {
      await connection.close();
      return updated;
    }
    const origin = await createOrigin(client);
    const pool = createReadingPool(url, poolSize);
    const reserved = createReadingPool(url, RESERVED_CONNECTIONS);
    const hints = shared && createHintChannel(options.listenUrl, { origin, ...shared });
    const others = hints && { origin, notifyOfChanges: () => hints.sendChanges() };
    const queue = createPostgresGroupCommit(connection, others);
    const fileCheck = createPostgresCheck(url);
    return {
      ok: true,
      migrated: updated.migrated,
      fileCheck,
      storage: {
        ...(hints ? createSharedParts(pool.read, origin, hints) : unsharedStorage),
        read: pool.read,
        reserved: reserved.read,
        transaction: queue.transaction,
        onAgentsChanged: queue.onAgentsChanged,
        snapshot: pool.snapshot,
        // The server keeps replaced rows until it vacuums; the log and backups keep them as well.
        scrub: () => Promise.resolve(true),
        async close() {
          await Promise.all([fileCheck.stop(), queue.close()]);
          await hints?.close();
          await connection.close();
          await Promise.all([pool.close(), reserved.close()]);
        },
      },
    };
  } catch (error) {
    await connection.close();
    return toPostgresRefusal(error, name);
  }
}

/** Returns the parts of a storage whose database has other processes. */
function createSharedParts(read: Reader, origin: string, hints: Hints): typeof unsharedStorage {
  return { isShared: true, origin, hints, runAlone: (query, params) => read.get(query, params) };
}

async function createOrigin(client: Client): Promise<string> {
  const { rows } = await client.query<{ origin: string }>(
    "SELECT gen_random_uuid()::text AS origin",
  );
  return rows[0]?.origin ?? "";
}

interface SchemaUpdate {
  readonly name: string;
  readonly migrations: readonly Migration[];
  readonly isShared: boolean;
}

/** Inspects the database and applies missing steps, one process after another. */
async function updateSchema(
  client: Client,
  { name, migrations, isShared }: SchemaUpdate,
): Promise<{ readonly ok: true; readonly migrated: string[] } | DatabaseRefusal> {
  await waitForOtherStarts(client);
  try {
    const inspected = await inspectPostgres(client, { name, migrations });
    if (!inspected.ok) return inspected;
    const { length: applied } = inspected.applied;
    const oldest = getOldestPosition(migrations, migrations.length - 1);
    const isUpdate = applied > 0 && applied < migrations.length;
    if (isShared && isUpdate && (await hasOlderSession(client, oldest))) {
      const detail = `${name} is in use by processes of an older version, which must be stopped first`;
      return refuseDatabase("database.locked", detail);
    }
    return { ok: true, migrated: await migratePostgres(client, migrations) };
  } finally {
    await endStart(client).catch(() => {});
  }
}

/** The session keeps the lock when the transaction, which only has its own time limits, has ended. */
async function waitForOtherStarts(client: Client): Promise<void> {
  await client.query("BEGIN");
  await client.query(`SET LOCAL statement_timeout = 0`);
  await client.query(`SET LOCAL lock_timeout = ${MAX_START_WAIT_MS}`);
  const wait = { text: "SELECT pg_advisory_lock($1)", query_timeout: 2 * MAX_START_WAIT_MS };
  try {
    await client.query({ ...wait, values: [START_LOCK] });
  } catch (cause) {
    if (isConflict(cause)) throw new DatabaseLocked("another process starts", { cause });
    throw cause;
  }
  await client.query(`SET idle_session_timeout = ${MAX_START_PAUSE_MS}`);
  await client.query("COMMIT");
}

async function endStart(client: Client): Promise<void> {
  await client.query("SELECT pg_advisory_unlock($1)", [START_LOCK]);
  await client.query("RESET idle_session_timeout");
}
