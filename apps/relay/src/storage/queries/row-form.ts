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

export type RowFormOf<Kind extends RowForm<never>["kind"], P> = Extract<RowForm<P>, { kind: Kind }>;

/** A row, or null if there is none. */
export type FoundRow = RowValues | null;

/** The effect of a statement on one row. */
export interface RowChange {
  /** Names the row. */
  readonly key: RowValues;
  /** Returns the values that change, all of a row that is not there, and undefined if none does. */
  readonly decide: (row: FoundRow) => RowValues | undefined;
}

/** Lists what a statement does to each row that it looks for. */
export function listRowChanges<P>(
  form: RowFormOf<"merge" | "update", P>,
  params: P,
): readonly RowChange[] {
  if (form.kind === "merge") {
    return form.rows(params).map((added) => ({
      key: added,
      decide: (row) => (row === null ? added : form.merge?.(row, added, params)),
    }));
  }
  const decide = (row: FoundRow) => (row === null ? undefined : form.change(row, params));
  return [{ key: params as RowValues, decide }];
}

/** Returns a text by which a row of a table is found in memory. */
export function toKey({ key }: KeyedTable, values: Readonly<Record<string, unknown>>): string {
  return key.length === 1
    ? String(values[key[0] ?? ""])
    : JSON.stringify(key.map((column) => values[column]));
}

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
