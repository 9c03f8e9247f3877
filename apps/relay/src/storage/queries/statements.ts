import type { Database, Statement } from "better-sqlite3";
import type { Query } from "./compiled-query.ts";
import { rankText } from "./text-rank.ts";

/** Runs queries on one connection. Each is prepared at its first use. */
export class Statements {
  readonly #db: Database;
  readonly #prepared = new WeakMap<object, Statement<unknown[]>>();

  /** The number of writing statements that ran so far. */
  #writes = 0;

  constructor(db: Database) {
    this.#db = db;
    db.function("text_rank", { varargs: true, deterministic: true }, rankText);
  }

  get<P, Row>(query: Query<P, Row>, params: P): Row | undefined {
    return this.#statement(query).get(query.values(params)) as Row | undefined;
  }

  all<P, Row>(query: Query<P, Row>, params: P): Row[] {
    return this.#statement(query).all(query.values(params)) as Row[];
  }

  run<P>(query: Query<P, never>, params: P): number {
    return this.#statement(query).run(query.values(params)).changes;
  }

  get writes(): number {
    return this.#writes;
  }

  #statement<P, Row>(query: Query<P, Row>): Statement<unknown[]> {
    let statement = this.#prepared.get(query);
    if (statement === undefined) {
      statement = this.#db.prepare(query.text);
      this.#prepared.set(query, statement);
    }
    if (!statement.readonly) this.#writes += 1;
    return statement;
  }
}
