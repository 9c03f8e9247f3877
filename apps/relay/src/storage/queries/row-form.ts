import type { Tables } from "../tables.ts";
import type { Query, SqlValue } from "./compiled-query.ts";

export type TableName = keyof Tables;

/** The values of some columns of one row. */
export type RowValues = Readonly<Record<string, SqlValue>>;

/** A table whose rows are found by their whole key, with the columns that statements in row form need. */
export interface KeyedTable {
  readonly name: TableName;
  readonly key: readonly string[];
  readonly columns: readonly string[];
  /** A condition that its rows fulfil, where a key is not unique in the whole table. */
  readonly where?: string;
}

/**
 * States what a statement does to single rows, in terms that need no database. A batch of transactions whose
 * statements all have such a form is decided in memory and written by one statement for each table. It
 * must do exactly what the text of its statement does: a test runs both.
 *
 * - `read`: reads tables that are not written beside it, by its own text.
 * - `find`: finds the row with the key that its parameters name.
 * - `insert`: adds one row, and fails where its key is taken. A row of a keyed table is found by later
 *   statements of the batch; `numberedBy` is a column that counts on from the table's last row.
 * - `merge`: adds rows; a row that is there already gets the values that `merge` returns, if any.
 * - `update`: changes the row with the key that its parameters name, unless `change` returns undefined.
 */
export type RowForm<P> =
  | { readonly kind: "read"; readonly tables: readonly TableName[] }
  | { readonly kind: "find"; readonly table: KeyedTable; readonly columns?: readonly string[] }
  | {
      readonly kind: "insert";
      readonly table: KeyedTable | TableName;
      readonly row: (params: P) => RowValues;
      readonly numberedBy?: string;
    }
  | {
      readonly kind: "merge";
      readonly table: KeyedTable;
      readonly rows: (params: P) => readonly RowValues[];
      readonly merge?: (before: RowValues, row: RowValues, params: P) => RowValues | undefined;
    }
  | {
      readonly kind: "update";
      readonly table: KeyedTable;
      readonly change: (row: RowValues, params: P) => RowValues | undefined;
    };

/** Gives a statement its row form. */
export function inRowForm<P, Row>(query: Query<P, Row>, form: RowForm<P>): Query<P, Row> {
  return Object.assign(query, { form });
}

/** Picks columns of a row. */
export function pickColumns(row: object, columns: readonly string[]): RowValues {
  const values = row as RowValues;
  const picked: Record<string, SqlValue> = {};
  for (const column of columns) picked[column] = values[column] ?? null;
  return picked;
}
