import type { Database } from "better-sqlite3";
import type { Query } from "../queries/compiled-query.ts";
import type { Statements } from "../queries/statements.ts";
import { StorageUnavailable, type Tx } from "../storage.ts";

/** The transaction of one job of a batch on the shared connection. It is closed when the job ends. */
export class JobTx implements Tx {
  /** It never stops. */
  readonly stopped?: undefined;
  readonly #db: Database;
  readonly #statements: Statements;
  #isRolledBack = false;
  #ended = false;

  constructor(db: Database, statements: Statements) {
    this.#db = db;
    this.#statements = statements;
  }

  get<P, Row>(query: Query<P, Row>, params: P): Promise<Row | undefined> {
    try {
      this.#checkOpen();
      return Promise.resolve(this.#statements.get(query, params));
    } catch (error) {
      return Promise.reject(this.#noteFailure(error));
    }
  }

  all<P, Row>(query: Query<P, Row>, params: P): Promise<Row[]> {
    try {
      this.#checkOpen();
      return Promise.resolve(this.#statements.all(query, params));
    } catch (error) {
      return Promise.reject(this.#noteFailure(error));
    }
  }

  run<P>(query: Query<P, never>, params: P): Promise<number> {
    try {
      this.#checkOpen();
      return Promise.resolve(this.#statements.run(query, params));
    } catch (error) {
      return Promise.reject(this.#noteFailure(error));
    }
  }

  /** Only one process uses the database, so there is none to notify. */
  noteChange(): void {}

  end(): void {
    this.#ended = true;
  }

  #checkOpen(): void {
    if (this.#ended) throw new Error("this transaction is over");
    // Outside its transaction a statement would be committed on its own.
    if (this.#isRolledBack) throw new StorageUnavailable("the transaction was rolled back");
  }

  #noteFailure(error: unknown): unknown {
    this.#isRolledBack = !this.#db.inTransaction;
    return error;
  }
}
