import type { Database } from "better-sqlite3";
import type { Query } from "./prepared.ts";
import type { Statements } from "./statements.ts";
import { StorageUnavailable, type Tx } from "./storage.ts";

/** What one job of a batch is given of the shared connection; shut when the job ends. */
export class JobTx implements Tx {
  readonly #db: Database;
  readonly #statements: Statements;
  #ended = false;

  constructor(db: Database, statements: Statements) {
    this.#db = db;
    this.#statements = statements;
  }

  async get<P, Row>(query: Query<P, Row>, params: P): Promise<Row | undefined> {
    return this.#live().get(query, params);
  }

  async all<P, Row>(query: Query<P, Row>, params: P): Promise<Row[]> {
    return this.#live().all(query, params);
  }

  async run<P>(query: Query<P, never>, params: P): Promise<number> {
    return this.#live().run(query, params);
  }

  end(): void {
    this.#ended = true;
  }

  #live(): Statements {
    if (this.#ended) throw new Error("this transaction is over");
    // Without its transaction a statement would commit by itself.
    if (!this.#db.inTransaction) throw new StorageUnavailable("the transaction was rolled back");
    return this.#statements;
  }
}
