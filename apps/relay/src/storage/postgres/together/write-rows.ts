import type { Client } from "pg";
import type { KeyedTable, RowValues, TableName } from "../../queries/row-form.ts";
import { toNamedStatement } from "../prepared-statement.ts";
import { formatArray } from "../values/format-array.ts";
import { sendAtOnce } from "./send-at-once.ts";
import type { ChangedRow, RowLayer } from "./row-layer.ts";

/** The type of each column of a table. */
export type ColumnTypes = ReadonlyMap<string, string>;

/** Reads the types of a table's columns once. */
export type FindColumnTypes = (client: Client, table: TableName) => Promise<ColumnTypes>;

/** The database refused a statement for several jobs, for example because a key was taken. */
export class RowsRefused extends Error {
  override readonly name = "RowsRefused";
}

/** Rows that one statement writes, because the same columns of them are written. */
interface RowGroup {
  readonly columns: readonly string[];
  readonly rows: RowValues[];
}

/** Writes what a layer has changed, by one statement for each table and set of columns. */
export async function writeRows(
  client: Client,
  layer: RowLayer,
  findTypes: FindColumnTypes,
): Promise<void> {
  const statements: Statement[] = [];
  for (const [table, changes] of layer.changed) {
    const types = await findTypes(client, table.name);
    const rows = [...changes.values()];
    const added = rows.filter(({ isNew }) => isNew).map(({ row }) => row);
    statements.push(...toInserts(table.name, added, types));
    const changed = rows.filter(({ isNew }) => !isNew);
    statements.push(...toUpdates(table, changed, types));
  }
  for (const [table, { rows, numberedBy }] of layer.added) {
    statements.push(...toInserts(table, rows, await findTypes(client, table), numberedBy));
  }
  // They are sent in one flight, which ends when the first of them has failed.
  await sendAtOnce(
    client,
    statements.map((statement) => () => send(client, statement)),
  );
}

interface Statement {
  readonly text: string;
  readonly columns: readonly string[];
  readonly rows: readonly RowValues[];
}

function toInserts(
  table: TableName,
  rows: readonly RowValues[],
  types: ColumnTypes,
  numberedBy?: string,
): Statement[] {
  const groups = groupByColumns(rows, (row) => [row, Object.keys(row)]);
  return groups.map((group) => ({
    ...group,
    text: toInsertText(table, group.columns, types, numberedBy),
  }));
}

function toUpdates(
  { name, key }: KeyedTable,
  rows: readonly ChangedRow[],
  types: ColumnTypes,
): Statement[] {
  const groups = groupByColumns(rows, ({ row, changed }) => [row, [...key, ...changed]]);
  return groups.map((group) => ({ ...group, text: toUpdateText(name, key, group.columns, types) }));
}

async function send(client: Client, { text, columns, rows }: Statement): Promise<void> {
  const values = columns.map((column) => formatArray(rows.map((row) => row[column] ?? null)));
  const { rowCount } = await client.query({ ...toNamedStatement(text), values });
  if (rowCount !== rows.length) throw new RowsRefused(`not all rows were written: ${text}`);
}

function groupByColumns<Row>(
  rows: readonly Row[],
  split: (row: Row) => readonly [row: RowValues, columns: readonly string[]],
): RowGroup[] {
  const groups = new Map<string, RowGroup>();
  /** The groups by the names as the rows have them, because most rows have the same order. */
  const known = new Map<string, RowGroup>();
  for (const each of rows) {
    const [row, names] = split(each);
    const name = names.join();
    let group = known.get(name);
    if (group === undefined) {
      const columns = names.toSorted();
      group = groups.get(columns.join()) ?? { columns, rows: [] };
      groups.set(columns.join(), group);
      known.set(name, group);
    }
    group.rows.push(row);
  }
  return [...groups.values()];
}

/** The rows are numbered in the order in which they were added. */
function toInsertText(
  table: string,
  columns: readonly string[],
  types: ColumnTypes,
  numberedBy?: string,
): string {
  const names = columns.join(", ");
  const next = `(SELECT coalesce(max(${numberedBy}), 0) FROM ${table}) + place`;
  const [target, source] =
    numberedBy === undefined ? [names, names] : [`${numberedBy}, ${names}`, `${next}, ${names}`];
  return (
    `INSERT INTO ${table} (${target}) SELECT ${source} ` +
    `FROM unnest(${toArrays(columns, types)}) WITH ORDINALITY AS added (${names}, place) ORDER BY place`
  );
}

function toUpdateText(
  table: string,
  key: readonly string[],
  columns: readonly string[],
  types: ColumnTypes,
): string {
  const set = columns
    .filter((column) => !key.includes(column))
    .map((column) => `${column} = changed.${column}`);
  const where = key.map((column) => `stored.${column} = changed.${column}`);
  return (
    `UPDATE ${table} AS stored SET ${set.join(", ")} ` +
    `FROM unnest(${toArrays(columns, types)}) AS changed (${columns.join(", ")}) ` +
    `WHERE ${where.join(" AND ")}`
  );
}

function toArrays(columns: readonly string[], types: ColumnTypes): string {
  return columns.map((column, at) => `$${at + 1}::${types.get(column)}[]`).join(", ");
}

/** Keeps the types of a database's columns, which no later version changes. */
export function createColumnTypes(): FindColumnTypes {
  const known = new Map<TableName, ColumnTypes>();
  return async (client, table) => {
    let types = known.get(table);
    if (types === undefined) {
      const { rows } = await client.query<{ name: string; type: string }>(
        `SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
         WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped`,
        [table],
      );
      types = new Map(rows.map(({ name, type }) => [name, type]));
      known.set(table, types);
    }
    return types;
  };
}
