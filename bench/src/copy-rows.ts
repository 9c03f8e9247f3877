import type { Database } from "better-sqlite3";

const ROWS_PER_TRANSACTION = 20_000;

/** A table's row to copy, and the columns that differ in each copy. */
export interface TableCopy {
  readonly table: string;
  /** The SQL condition that selects the row. */
  readonly where: string;
  /** The SQL of each changed column; `n.value` counts the copies from 0. */
  readonly changed: Readonly<Record<string, string>>;
}

/** Writes `count` copies of a row into each table, one table after another, in small transactions. */
export function copyRows(db: Database, tables: readonly TableCopy[], count: number): void {
  const size = Math.min(count, ROWS_PER_TRANSACTION);
  const copies = tables.map(({ table, where, changed }) => {
    const columns = db.pragma(`table_info(${table})`) as { name: string }[];
    const names = columns.map(({ name }) => name);
    return db.prepare(`
      with recursive n(value) as (select ? union all select value + 1 from n limit ${size})
      insert into ${table} (${names.join(", ")})
      select ${names.map((name) => changed[name] ?? `t.${name}`).join(", ")}
      from n, (select * from ${table} where ${where} limit 1) as t`);
  });
  const copyAll = db.transaction((first: number) => {
    for (const copy of copies) copy.run(first);
  });
  for (let first = 0; first < count; first += size) copyAll(first);
}
