import type { Query } from "../queries/compiled-query.ts";
import {
  listRowChanges,
  pickColumns,
  type FoundRow,
  type KeyedTable,
  type RowFormOf,
  type RowValues,
  type TableName,
} from "../queries/row-form.ts";
import type { ChangeKind, Tx } from "../storage.ts";

/** A row as the transactions before this one have left it. */
export interface LocatedRow {
  readonly values: FoundRow;
}

/**
 * A transaction that is decided in memory. At a statement without a row form it stops: that statement is
 * never answered, `stopped` resolves, and the transaction must run statement by statement.
 */
export abstract class RowFormTx<Located extends LocatedRow> implements Tx {
  readonly stopped: Promise<void>;
  readonly #stop: () => void;
  #isStopped = false;
  #ended = false;

  constructor() {
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
    if (form?.kind === "read") return (await this.#read(query, form, params))[0];
    if (form?.kind !== "find") return this.leave();
    const { table, columns } = form;
    const found = this.#find(table, params as RowValues);
    // Most rows are loaded already, and each await costs a turn of the microtasks.
    const { values } = found instanceof Promise ? await found : found;
    if (values === null) return undefined;
    return (columns === undefined ? values : pickColumns(values, columns)) as Row;
  }

  async all<P, Row>(query: Query<P, Row>, params: P): Promise<Row[]> {
    this.#checkOpen();
    const { form } = query;
    return form?.kind === "read" ? [...(await this.#read(query, form, params))] : this.leave();
  }

  async run<P>(query: Query<P, never>, params: P): Promise<number> {
    this.#checkOpen();
    const { form } = query;
    if (form === undefined || form.kind === "read" || form.kind === "find") return this.leave();
    this.noteStatement(query, params);
    return form.kind === "insert" ? this.insert(form, query, params) : this.#change(form, params);
  }

  abstract noteChange(kind: ChangeKind, ...words: readonly string[]): void;

  end(): void {
    this.#ended = true;
  }

  /** Notes which agents a writing statement changes. */
  protected abstract noteStatement<P>(query: Query<P, never>, params: P): void;

  /** Whether a row of the table was changed or added, which a statement's own text would not see. */
  protected abstract isChanged(name: TableName): boolean;

  /** Whether rows were added that `locate` does not find. */
  protected abstract hasAdded(name: TableName): boolean;

  /** Runs a statement that only reads. */
  protected abstract read<P, Row>(
    query: Query<P, Row>,
    params: P,
  ): readonly Row[] | Promise<readonly Row[]>;

  protected abstract locate(table: KeyedTable, values: RowValues): Located | Promise<Located>;

  protected abstract insert<P>(
    form: RowFormOf<"insert", P>,
    query: Query<P, never>,
    params: P,
  ): number | Promise<never>;

  /** Gives a row new values in some columns, or in all if it is not there. */
  protected abstract change(table: KeyedTable, row: Located, values: RowValues): void;

  protected leave(): Promise<never> {
    this.#isStopped = true;
    this.#stop();
    return new Promise<never>(() => {});
  }

  #checkOpen(): void {
    if (this.#ended) throw new Error("this transaction is over");
  }

  async #read<P, Row>(
    query: Query<P, Row>,
    { tables }: RowFormOf<"read", P>,
    params: P,
  ): Promise<readonly Row[]> {
    if (tables.some((table) => this.isChanged(table))) return this.leave();
    return this.read(query, params);
  }

  #find(table: KeyedTable, values: RowValues): Located | Promise<Located> {
    return this.hasAdded(table.name) ? this.leave() : this.locate(table, values);
  }

  async #change<P>(form: RowFormOf<"merge" | "update", P>, params: P): Promise<number> {
    const { table } = form;
    let changed = 0;
    for (const { key, decide } of listRowChanges(form, params)) {
      const found = this.#find(table, key);
      const row = found instanceof Promise ? await found : found;
      const values = decide(row.values);
      if (values === undefined) continue;
      this.change(table, row, values);
      changed += 1;
    }
    return changed;
  }
}
