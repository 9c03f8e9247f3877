import type { Query } from "../queries/compiled-query.ts";
import type { KeyedTable, RowFormOf, RowValues } from "../queries/row-form.ts";
import type { Statements } from "../queries/statements.ts";
import type { BatchRow, BatchRows } from "./batch-rows.ts";
import { RowFormTx } from "./row-form-tx.ts";

/** A transaction on SQLite that is decided in memory, on the rows of its batch. */
export class BatchTx extends RowFormTx<BatchRow> {
  readonly #rows: BatchRows;
  readonly #statements: Statements;

  constructor(rows: BatchRows, statements: Statements) {
    super();
    this.#rows = rows;
    this.#statements = statements;
  }

  /** Only one process uses the database, so there is none to notify. */
  noteChange(): void {}

  protected noteStatement<P>(query: Query<P, never>, params: P): void {
    this.#statements.note(query, params);
  }

  protected isChanged(name: string): boolean {
    return this.#rows.isChanged(name);
  }

  protected hasAdded(name: string): boolean {
    return this.#rows.hasAdded(name);
  }

  protected read<P, Row>(query: Query<P, Row>, params: P): readonly Row[] {
    return this.#rows.read(query, params);
  }

  protected locate(table: KeyedTable, values: RowValues): BatchRow {
    return this.#rows.find(table, values);
  }

  protected insert<P>(
    { table, row }: RowFormOf<"insert", P>,
    query: Query<P, never>,
    params: P,
  ): number | Promise<never> {
    if (typeof table === "string") {
      this.#rows.insert(table, query, params);
      return 1;
    }
    // Its own statement refuses a key that is taken.
    return this.#rows.insertKeyed(table, row(params), query, params) ? 1 : this.leave();
  }

  protected change(table: KeyedTable, row: BatchRow, values: RowValues): void {
    this.#rows.change(table, row, values);
  }
}
