import type { Query } from "../../queries/compiled-query.ts";
import {
  listRowChanges,
  pickColumns,
  toKey,
  type FoundRow,
  type KeyedTable,
  type RowFormOf,
  type RowValues,
} from "../../queries/row-form.ts";
import type { ChangeKind, Tx } from "../../storage.ts";
import type { LoadedRows } from "./loaded-rows.ts";
import type { RowLayer } from "./row-layer.ts";

/** Told of what a transaction writes. */
export interface WriteListener {
  readonly onStatement: (query: Query<never, unknown>, params: unknown) => void;
  readonly onChange: (kind: ChangeKind, words: readonly string[]) => void;
}

/**
 * A transaction that is decided in memory. At a statement without a row form it stops: that statement is
 * never answered, `stopped` resolves, and the transaction must run in another way.
 */
export class RowsTx implements Tx {
  readonly stopped: Promise<void>;
  readonly #layer: RowLayer;
  readonly #loads: LoadedRows;
  /** Absent in a practice run. */
  readonly #listener: WriteListener | undefined;
  readonly #stop: () => void;
  #ended = false;
  #isStopped = false;

  constructor(layer: RowLayer, loads: LoadedRows, listener?: WriteListener) {
    this.#layer = layer;
    this.#loads = loads;
    this.#listener = listener;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.stopped = promise;
    this.#stop = resolve;
  }

  get isPractice(): boolean {
    return this.#listener === undefined;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  async get<P, Row>(query: Query<P, Row>, params: P): Promise<Row | undefined> {
    this.#checkOpen();
    const { form } = query;
    if (form?.kind === "read") return (await this.#read(query, form, params))[0];
    if (form?.kind !== "find") return this.#leave();
    const { table, columns } = form;
    const { row } = await this.#find(table, params as RowValues);
    if (row === null) return undefined;
    return (columns === undefined ? row : pickColumns(row, columns)) as Row;
  }

  async all<P, Row>(query: Query<P, Row>, params: P): Promise<Row[]> {
    this.#checkOpen();
    const { form } = query;
    return form?.kind === "read" ? [...(await this.#read(query, form, params))] : this.#leave();
  }

  async run<P>(query: Query<P, never>, params: P): Promise<number> {
    this.#checkOpen();
    const { form } = query;
    if (form === undefined || form.kind === "read" || form.kind === "find") return this.#leave();
    this.#listener?.onStatement(query, params);
    switch (form.kind) {
      case "insert":
        return this.#insert(form, params);
      case "merge":
      case "update":
        return this.#change(form, params);
    }
  }

  noteChange(kind: ChangeKind, ...words: readonly string[]): void {
    this.#listener?.onChange(kind, words);
  }

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

  #read<P, Row>(
    query: Query<P, Row>,
    { tables }: RowFormOf<"read", P>,
    params: P,
  ): Promise<readonly Row[]> {
    if (tables.some((table) => this.#layer.isWritten(table))) return this.#leave();
    return this.#loads.read(query, params);
  }

  /** Finds the row as the transactions before this one have left it. */
  async #find(
    table: KeyedTable,
    values: RowValues,
  ): Promise<{ readonly key: string; readonly row: FoundRow }> {
    if (this.#layer.hasAdded(table.name)) return this.#leave();
    const key = toKey(table, values);
    let row = this.#layer.find(table, key);
    if (row === undefined) {
      await this.#loads.load(table, values);
      row = this.#layer.find(table, key) ?? null;
    }
    return { key, row };
  }

  #insert<P>(
    { table, row, numberedBy }: RowFormOf<"insert", P>,
    params: P,
  ): number | Promise<never> {
    if (typeof table === "string") {
      this.#layer.add(table, this.isPractice ? [] : [row(params)], numberedBy);
      return 1;
    }
    const values = row(params);
    const key = toKey(table, values);
    if (this.#layer.find(table, key)) return this.#leave();
    this.#layer.addKeyed(table, key, values);
    return 1;
  }

  async #change<P>(form: RowFormOf<"merge" | "update", P>, params: P): Promise<number> {
    const { table } = form;
    let changed = 0;
    for (const { key: wanted, decide } of listRowChanges(form, params)) {
      const { key, row } = await this.#find(table, wanted);
      const values = decide(row);
      if (values === undefined) continue;
      if (row === null) this.#layer.addKeyed(table, key, values);
      else this.#layer.change(table, key, row, values);
      changed += 1;
    }
    return changed;
  }
}
