import { Client } from "pg";
import { StorageUnavailable } from "../storage.ts";
import { toClientConfig } from "./connection-settings.ts";
import { isConflict } from "./postgres-error.ts";

/** Any number that other programs are unlikely to lock: "ARLY" in the file header of SQLite. */
export const RELAY_LOCK = 0x41524c59;
const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 2_000;

/** Whether this program shares the database with other processes of one relay, or needs it alone. */
export interface ConnectionUse {
  readonly isShared: boolean;
}

/** Another relay or command holds the lock of the database. */
export class DatabaseLocked extends Error {
  override readonly name = "DatabaseLocked";
}

/**
 * The one connection that writes. Its session holds the lock that a command needs alone and that the
 * processes of a relay share, so nothing is written without the lock: when the connection ends, the lock
 * ends with it.
 */
export class WritingConnection {
  readonly #url: string;
  readonly #lockStatement: string;
  #client: Client | undefined;
  #pauseMs = MIN_PAUSE_MS;
  #isPausing = false;
  #isClosed = false;

  constructor(url: string, { isShared }: ConnectionUse) {
    this.#url = url;
    this.#lockStatement = `SELECT pg_advisory_lock${isShared ? "_shared" : ""}($1)`;
  }

  /** Returns the connection, and opens it again at most once in each pause. */
  async acquire(): Promise<Client> {
    if (this.#client !== undefined) return this.#client;
    if (this.#isClosed) throw new StorageUnavailable("the storage is closed");
    if (this.#isPausing) throw new StorageUnavailable("the database is not connected");
    try {
      this.#client = await this.#connect();
      this.#pauseMs = MIN_PAUSE_MS;
      return this.#client;
    } catch (error) {
      this.#pause();
      throw error;
    }
  }

  /** Closes a connection of which it is unknown what it is in the middle of. */
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
      return client;
    } catch (error) {
      this.discard(client);
      throw error;
    }
  }

  #pause(): void {
    this.#isPausing = true;
    setTimeout(() => (this.#isPausing = false), this.#pauseMs).unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, MAX_PAUSE_MS);
  }
}
