import type { Query } from "../queries/compiled-query.ts";
import {
  listRowChanges,
  pickColumns,
  type RowFormOf,
  type RowValues,
} from "../queries/row-form.ts";
import type { Statements } from "../queries/statements.ts";
import type { Tx } from "../storage.ts";
import type { BatchRows } from "./batch-rows.ts";

/**
 * A transaction that is decided in memory. At a statement without a row form it stops: that statement
 * is never answered, `stopped` resolves, and the job must run statement by statement.
 */
export class BatchTx implements Tx {
  readonly stopped: Promise<void>;
  readonly #rows: BatchRows;
  readonly #statements: Statements;
  readonly #stop: () => void;
  #isStopped = false;
  #ended = false;

  constructor(rows: BatchRows, statements: Statements) {
    this.#rows = rows;
    this.#statements = statements;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.stopped = promise;
    this.#stop = resolve;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  async get<P, Row>(query: Query<P, Row>, params: P): Promise<Row | undefined> {
    this.#checkOpen();
    const { form } = query;
    if (form?.kind === "find") return this.#find<P, Row>(form, params);
    return this.#canRead(form) ? this.#statements.get(query, params) : this.#leave();
  }

  async all<P, Row>(query: Query<P, Row>, params: P): Promise<Row[]> {
    this.#checkOpen();
    return this.#canRead(query.form) ? this.#statements.all(query, params) : this.#leave();
  }

  async run<P>(query: Query<P, never>, params: P): Promise<number> {
    this.#checkOpen();
    const { form } = query;
    switch (form?.kind) {
      case undefined:
      case "read":
      case "find":
        return this.#leave();
      case "insert":
        return this.#insert(form, query, params);
      case "merge":
      case "update":
        return this.#change(form, query, params);
    }
  }

  /** One process has the database, so there is none to tell. */
  noteChange(): void {}

  end(): void {
    this.#ended = true;
  }

  #checkOpen(): void {
    if (this.#ended) throw new Error("this transaction is over");
  }

  #leave(): Promise<never> {
    this.#isStopped = true;
    this.#stop();
    return new Promise<never>(() => {});
  }

  #canRead<P>(form: Query<P, unknown>["form"]): boolean {
    return form?.kind === "read" && !form.tables.some((name) => this.#rows.isChanged(name));
  }

  #find<P, Row>(
    { table, columns }: RowFormOf<"find", P>,
    params: P,
  ): Row | undefined | Promise<never> {
    if (this.#rows.hasAdded(table.name)) return this.#leave();
    const { values } = this.#rows.find(table, params as RowValues);
    if (values === null) return undefined;
    return (columns === undefined ? values : pickColumns(values, columns)) as Row;
  }

  #insert<P>(
    { table, row }: RowFormOf<"insert", P>,
    query: Query<P, never>,
    params: P,
  ): number | Promise<never> {
    if (typeof table === "string") {
      this.#rows.insert(table, query, params);
      return 1;
    }
    const values = row(params);
    const known = this.#rows.find(table, values);
    // Its own statement refuses a key that is taken.
    if (known.values !== null) return this.#leave();
    this.#rows.insertKeyed(table, known, values, query, params);
    return 1;
  }

  #change<P>(
    form: RowFormOf<"merge" | "update", P>,
    query: Query<P, never>,
    params: P,
  ): number | Promise<never> {
    const { table } = form;
    if (this.#rows.hasAdded(table.name)) return this.#leave();
    let changed = 0;
    for (const { key, decide } of listRowChanges(form, params)) {
      const row = this.#rows.find(table, key);
      const values = decide(row.values);
      if (values === undefined) continue;
      this.#rows.change(table, row, values);
      changed += 1;
    }
    if (changed > 0) this.#rows.note(query, params);
    return changed;
  }
}
