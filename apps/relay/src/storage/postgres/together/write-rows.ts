import type { Client } from "pg";
import type { RowValues, TableName } from "../../queries/row-form.ts";
import { toNamedStatement, toStoredValue } from "../prepared-statement.ts";
import type { RowLayer } from "./row-layer.ts";

/** The type of each column of a table. */
export type ColumnTypes = ReadonlyMap<string, string>;

/** Reads the types of a table's columns once. */
export type FindColumnTypes = (client: Client, table: TableName) => Promise<ColumnTypes>;

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
  const sent: Promise<void>[] = [];
  for (const [table, rows] of layer.changed) {
    const types = await findTypes(client, table.name);
    const all = [...rows.values()];
    const added = all.filter(({ isNew }) => isNew);
    for (const group of groupByColumns(added.map(({ row }) => [row, Object.keys(row)]))) {
      sent.push(write(client, group, toInsert(table.name, group.columns, types)));
    }
    const changed = all.filter((row) => !row.isNew);
    for (const group of groupByColumns(
      changed.map(({ row, changed: names }) => [row, [...table.key, ...names]]),
    )) {
      sent.push(write(client, group, toUpdate(table.name, table.key, group.columns, types)));
    }
  }
  for (const [table, { rows, numberedBy }] of layer.added) {
    const types = await findTypes(client, table);
    for (const group of groupByColumns(rows.map((row) => [row, Object.keys(row)]))) {
      sent.push(write(client, group, toInsert(table, group.columns, types, numberedBy)));
    }
  }
  await Promise.all(sent);
}

function groupByColumns(
  rows: readonly (readonly [row: RowValues, columns: readonly string[]])[],
): RowGroup[] {
  const groups = new Map<string, RowGroup>();
  for (const [row, names] of rows) {
    const columns = names.toSorted();
    const name = columns.join();
    const group = groups.get(name);
    if (group === undefined) groups.set(name, { columns, rows: [row] });
    else group.rows.push(row);
  }
  return [...groups.values()];
}

async function write(client: Client, { columns, rows }: RowGroup, text: string): Promise<void> {
  const values = columns.map((column) => rows.map((row) => toStoredValue(row[column])));
  const { rowCount } = await client.query({ ...toNamedStatement(text), values });
  if (rowCount !== rows.length) throw new Error(`rows of a batch were not written: ${text}`);
}

/** The rows are numbered in the order in which they were added. */
function toInsert(
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

function toUpdate(
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
