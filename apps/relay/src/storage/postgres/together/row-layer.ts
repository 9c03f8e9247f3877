import type { FoundRow, KeyedTable, RowValues, TableName } from "../../queries/row-form.ts";
import type { LoadedRows } from "./loaded-rows.ts";

/** A row as it must be written. */
export interface ChangedRow {
  readonly row: RowValues;
  readonly isNew: boolean;
  /** Of a row that is there already. */
  readonly changed: ReadonlySet<string>;
}

/** Rows to be added to a table, in order. */
export interface AddedRows {
  readonly numberedBy: string | undefined;
  readonly rows: RowValues[];
}

/**
 * The changes of one transaction, layered on those of earlier ones and on the stored rows. A refused
 * transaction leaves no trace, because its layer is not merged.
 */
export class RowLayer {
  readonly #below: RowLayer | LoadedRows;
  readonly changed = new Map<KeyedTable, Map<string, ChangedRow>>();
  readonly added = new Map<TableName, AddedRows>();
  readonly #written = new Set<TableName>();

  constructor(below: RowLayer | LoadedRows) {
    this.#below = below;
  }

  /** Returns undefined for a row that was not loaded. */
  find(table: KeyedTable, key: string): FoundRow | undefined {
    return this.changed.get(table)?.get(key)?.row ?? this.#below.find(table, key);
  }

  /** Whether a row of the table was changed or added, which a statement's own text would not see. */
  isWritten(table: TableName): boolean {
    if (this.#written.has(table)) return true;
    return this.#below instanceof RowLayer && this.#below.isWritten(table);
  }

  /** Whether rows were added that are not found by their keys. */
  hasAdded(table: TableName): boolean {
    if (this.added.has(table)) return true;
    return this.#below instanceof RowLayer && this.#below.hasAdded(table);
  }

  /** Adds rows whose keys no statement in row form looks for. */
  add(table: TableName, rows: readonly RowValues[], numberedBy?: string): void {
    this.#written.add(table);
    const added = this.added.get(table);
    if (added === undefined) this.added.set(table, { numberedBy, rows: [...rows] });
    else added.rows.push(...rows);
  }

  /** Puts a row that is not there. */
  addKeyed(table: KeyedTable, key: string, row: RowValues): void {
    this.#put(table, key, { row, isNew: true, changed: new Set() });
  }

  /** Changes some columns of a row that is there. */
  change(table: KeyedTable, key: string, before: RowValues, values: RowValues): void {
    const row = { ...before, ...values };
    this.#put(table, key, { row, isNew: false, changed: new Set(Object.keys(values)) });
  }

  #put(table: KeyedTable, key: string, { row, isNew, changed }: ChangedRow): void {
    this.#written.add(table.name);
    const rows = this.changed.get(table) ?? new Map<string, ChangedRow>();
    this.changed.set(table, rows);
    const earlier = rows.get(key);
    rows.set(key, {
      row,
      isNew: isNew || earlier?.isNew === true,
      changed: earlier === undefined ? changed : unite(earlier.changed, changed),
    });
  }

  /** Adds the changes of a transaction that was accepted. */
  merge(layer: RowLayer): void {
    for (const [table, { rows, numberedBy }] of layer.added) this.add(table, rows, numberedBy);
    for (const [table, rows] of layer.changed) {
      for (const [key, row] of rows) this.#put(table, key, row);
    }
  }
}

/** Most transactions of a batch change the same columns of a row, so most need no new set. */
function unite(left: ReadonlySet<string>, right: ReadonlySet<string>): ReadonlySet<string> {
  for (const each of right) if (!left.has(each)) return new Set([...left, ...right]);
  return left;
}
