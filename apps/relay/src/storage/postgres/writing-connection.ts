import { Client } from "pg";
import { StorageUnavailable } from "../storage.ts";
import { NOTICE_LOST_CLIENT, toClientConfig } from "./connection-settings.ts";
import { isConflict } from "./postgres-error.ts";

/** Any number that other programs are unlikely to lock: "ARLY" in the file header of SQLite. */
export const RELAY_LOCK = 0x41524c59;
/**
 * The batches of all processes and the steps of an update take turns, so each sees everything that was
 * acknowledged before it and none meets another. Locking a table takes no snapshot, so a batch reads what the
 * turn before it wrote.
 */
export const TAKE_TURN = "LOCK TABLE schema_migrations IN EXCLUSIVE MODE";

const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 2_000;

/** Whether this program shares the database with other processes of one relay, or needs it alone. */
export interface ConnectionUse {
  readonly isShared: boolean;
  /** The number of steps of the schema that a process knows, as others see it while it is connected. */
  readonly position?: number;
}

/**
 * Returns whether another session shares the database without knowing a step of the schema, which it
 * indicates by a lock of its own.
 */
export async function hasOlderSession(client: Client, position: number): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT FROM pg_locks AS shared
     JOIN pg_database ON pg_database.oid = shared.database AND datname = current_database()
     WHERE locktype = 'advisory' AND classid = 0 AND objid = $1 AND objsubid = 1
       AND pid <> pg_backend_pid()
       AND NOT EXISTS (
         SELECT FROM pg_locks AS announced
         WHERE announced.locktype = 'advisory' AND announced.database = shared.database
           AND announced.classid = $1 AND announced.objid >= $2 AND announced.objsubid = 2
           AND announced.pid = shared.pid)`,
    [RELAY_LOCK, position],
  );
  return rowCount !== 0;
}

/** Another relay or command holds the lock of the database. */
export class DatabaseLocked extends Error {
  override readonly name = "DatabaseLocked";
}

/**
 * The only connection that writes. Its session holds the lock that a command needs exclusively and that the
 * processes of a relay share, so nothing is written without the lock: when the connection ends, so does the
 * lock.
 */
export class WritingConnection {
  readonly #url: string;
  readonly #lockStatement: string;
  readonly #position: number | undefined;
  #client: Client | undefined;
  #pauseMs = MIN_PAUSE_MS;
  #isPausing = false;
  #wasConnected = false;
  #isClosed = false;

  constructor(url: string, { isShared, position }: ConnectionUse) {
    this.#url = url;
    this.#position = position;
    this.#lockStatement = `SELECT pg_advisory_lock${isShared ? "_shared" : ""}($1)`;
  }

  /** Returns the connection, and opens it again at most once in each pause. */
  async acquire(): Promise<Client> {
    if (this.#client !== undefined) return this.#client;
    if (this.#isClosed) throw new StorageUnavailable("the storage is closed");
    if (this.#isPausing) throw new StorageUnavailable("the database is not connected");
    try {
      this.#client = await this.#connect();
      this.#wasConnected = true;
      this.#pauseMs = MIN_PAUSE_MS;
      return this.#client;
    } catch (error) {
      this.#pause();
      throw error;
    }
  }

  /** Closes a connection whose state is unknown. */
  discard(client: Client): void {
    if (this.#client === client) this.#client = undefined;
    client.end().catch(() => {});
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#client?.end();
    this.#client = undefined;
  }

  async #connect(): Promise<Client> {
    const client = new Client({ ...toClientConfig(this.#url), pipeline: true });
    client.on("error", () => this.discard(client));
    try {
      await client.connect();
      // Waits for `lock_timeout`, because the server may not have noticed yet that the last holder ended.
      await client.query(this.#lockStatement, [RELAY_LOCK]).catch((cause: unknown) => {
        if (!isConflict(cause)) throw cause;
        throw new DatabaseLocked("another program uses the database", { cause });
      });
      // A plan made while a table was small would otherwise keep reading the whole table.
      await client.query("SET enable_seqscan = off");
      // One plan for all values is then as good as one for each execution, and is made once.
      await client.query("SET plan_cache_mode = force_generic_plan");
      await client.query(NOTICE_LOST_CLIENT);
      if (this.#position !== undefined) await this.#announcePosition(client, this.#position);
      return client;
    } catch (error) {
      this.discard(client);
      throw error;
    }
  }

  /**
   * While this process was not connected, another one may have changed what it works on. A step that is being
   * applied may not have seen its lock, so it waits for its turn before it asks.
   */
  async #announcePosition(client: Client, position: number): Promise<void> {
    await client.query("SELECT pg_advisory_lock_shared($1, $2)", [RELAY_LOCK, position]);
    if (!this.#wasConnected) return;
    await client.query(`BEGIN; ${TAKE_TURN}`);
    const newer = "SELECT FROM schema_migrations WHERE oldest > $1 LIMIT 1";
    const { rowCount } = await client.query(newer, [position]);
    await client.query("COMMIT");
    if (rowCount !== 0) throw new DatabaseLocked("a newer version has changed the schema");
  }

  #pause(): void {
    this.#isPausing = true;
    setTimeout(() => (this.#isPausing = false), this.#pauseMs).unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, MAX_PAUSE_MS);
  }
}
