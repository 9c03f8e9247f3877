import { Pool } from "pg";
import { StorageUnavailable, type Query, type Reader } from "../../storage.ts";
import { toClientConfig } from "../connection-settings.ts";
import { isStaleStatement, toStorageError } from "../postgres-error.ts";
import { createBatchedReads } from "./batched-reads.ts";
import { renewStatements, toQueryConfig } from "../prepared-statement.ts";

/** Further reads would only wait until their callers have given up. */
const MAX_WAITING = 1_000;

export interface ReadingPool {
  readonly read: Reader;
  readonly snapshot: <T>(work: (read: Reader) => Promise<T>) => Promise<T>;
  readonly close: () => Promise<void>;
}

/** A connection or one that the pool chooses. */
type Queryable = Pick<Pool, "query">;

/** Reads committed rows on up to `size` connections. */
export function createReadingPool(url: string, size: number): ReadingPool {
  const pool = new Pool({ ...toClientConfig(url), max: size });
  // A connection that ended while it was idle is replaced at its next use.
  pool.on("error", () => {});

  async function attempt<T>(work: () => Promise<T>): Promise<T> {
    if (pool.ending) throw new StorageUnavailable("the storage is closed");
    if (pool.waitingCount >= MAX_WAITING) {
      throw new StorageUnavailable("too many reads wait for a connection");
    }
    try {
      return await work();
    } catch (error) {
      throw toStorageError(error);
    }
  }

  return {
    read: createReader(pool, attempt),

    async snapshot(work) {
      const client = await attempt(() => pool.connect());
      // The next statement reports it; without a listener it would end the process.
      const ignore = (): void => {};
      client.on("error", ignore);
      try {
        await attempt(() => client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
        const result = await work(createReader(client, attempt));
        await attempt(() => client.query("COMMIT"));
        client.release();
        return result;
      } catch (error) {
        // Closed, because it may be in the middle of the transaction.
        client.release(true);
        throw error;
      } finally {
        client.removeListener("error", ignore);
      }
    },

    async close() {
      if (!pool.ending) await pool.end();
    },
  };
}

function createReader(
  connection: Queryable,
  attempt: <T>(work: () => Promise<T>) => Promise<T>,
): Reader {
  const readInBatch = createBatchedReads((statement) => connection.query(statement));

  async function list<P, Row>(query: Query<P, Row>, params: P): Promise<Row[]> {
    if (query.isBatched === true) return readInBatch(query, params);
    const config = toQueryConfig(query, params);
    try {
      return (await connection.query(config)).rows as Row[];
    } catch (error) {
      if (!isStaleStatement(error)) throw error;
      renewStatements(config);
      return (await connection.query(toQueryConfig(query, params))).rows as Row[];
    }
  }

  return {
    get: (query, params) => attempt(async () => (await list(query, params))[0]),
    all: (query, params) => attempt(() => list(query, params)),
  };
}
