import type { Query } from "../../queries/compiled-query.ts";
import {
  toKey,
  type FoundRow,
  type KeyedTable,
  type RowFormOf,
  type RowValues,
  type TableName,
} from "../../queries/row-form.ts";
import type { ChangeKind } from "../../storage.ts";
import { RowFormTx, type LocatedRow } from "../../writing/row-form-tx.ts";
import type { LoadedRows } from "./loaded-rows.ts";
import type { RowLayer } from "./row-layer.ts";

/** Called with what a transaction writes. */
export interface WriteListener {
  readonly onStatement: (query: Query<never, unknown>, params: unknown) => void;
  readonly onChange: (kind: ChangeKind, words: readonly string[]) => void;
}

/** A row of a layer, with the text by which it is found. */
interface LayerRow extends LocatedRow {
  readonly key: string;
}

/** A transaction on Postgres that is decided in memory, in a layer of its own. */
export class RowsTx extends RowFormTx<LayerRow> {
  readonly #layer: RowLayer;
  readonly #loads: LoadedRows;
  /** Absent in a dry run. */
  readonly #listener: WriteListener | undefined;

  constructor(layer: RowLayer, loads: LoadedRows, listener?: WriteListener) {
    super();
    this.#layer = layer;
    this.#loads = loads;
    this.#listener = listener;
  }

  get isDryRun(): boolean {
    return this.#listener === undefined;
  }

  noteChange(kind: ChangeKind, ...words: readonly string[]): void {
    this.#listener?.onChange(kind, words);
  }

  protected noteStatement<P>(query: Query<P, never>, params: P): void {
    this.#listener?.onStatement(query, params);
  }

  protected isChanged(name: TableName): boolean {
    return this.#layer.isWritten(name);
  }

  protected hasAdded(name: TableName): boolean {
    return this.#layer.hasAdded(name);
  }

  protected read<P, Row>(query: Query<P, Row>, params: P): Promise<readonly Row[]> {
    return this.#loads.read(query, params);
  }

  protected async locate(table: KeyedTable, values: RowValues): Promise<LayerRow> {
    const key = toKey(table, values);
    let row: FoundRow | undefined = this.#layer.find(table, key);
    if (row === undefined) {
      await this.#loads.load(table, values);
      row = this.#layer.find(table, key) ?? null;
    }
    return { key, values: row };
  }

  protected insert<P>(
    { table, row, numberedBy }: RowFormOf<"insert", P>,
    _: Query<P, never>,
    params: P,
  ): number | Promise<never> {
    if (typeof table === "string") {
      this.#layer.add(table, this.isDryRun ? [] : [row(params)], numberedBy);
      return 1;
    }
    const values = row(params);
    const key = toKey(table, values);
    if (this.#layer.find(table, key)) return this.leave();
    this.#layer.addKeyed(table, key, values);
    return 1;
  }

  protected change(table: KeyedTable, { key, values: before }: LayerRow, values: RowValues): void {
    if (before === null) this.#layer.addKeyed(table, key, values);
    else this.#layer.change(table, key, before, values);
  }
}
