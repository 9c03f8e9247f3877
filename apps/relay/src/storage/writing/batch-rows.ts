import type { Database, Statement } from "better-sqlite3";
import type { Query } from "../queries/compiled-query.ts";
import { toKey, type FoundRow, type KeyedTable, type RowValues } from "../queries/row-form.ts";
import type { Statements } from "../queries/statements.ts";

/** A row as the jobs of a batch so far have left it. */
export interface BatchRow {
  values: FoundRow;
  isStored: boolean;
  /** The columns that must be written. */
  unwritten: readonly string[];
}

/** The rows of one table, with the statements that read and write them. */
interface BatchTable {
  readonly rows: Map<string, BatchRow>;
  readonly select: Statement<unknown[]>;
  readonly writes: Map<string, Statement<unknown[]>>;
}

/**
 * The rows that the jobs of a batch have found and changed, and the inserts that they have made. Nothing
 * is written before all jobs have ended, so that a row which many of them change is read and written once,
 * and a job that is refused costs nothing.
 */
export class BatchRows {
  readonly #db: Database;
  readonly #statements: Statements;
  readonly #tables = new Map<KeyedTable, BatchTable>();
  readonly #reads = new Map<object, readonly unknown[]>();
  /** The names of tables whose rows are not all stored. */
  readonly #changed = new Set<string>();
  /** The names of tables with new rows that `find` does not know. */
  readonly #added = new Set<string>();
  #inserts: (() => void)[] = [];
  #undo: (() => void)[] = [];

  constructor(db: Database, statements: Statements) {
    this.#db = db;
    this.#statements = statements;
  }

  /** Whether a statement that reads the table in the database would miss a change. */
  isChanged(name: string): boolean {
    return this.#changed.has(name);
  }

  /** Whether a row of the table may be there that `find` does not find. */
  hasAdded(name: string): boolean {
    return this.#added.has(name);
  }

  /** Runs a statement that only reads tables which the batch has not changed; one without parameters once. */
  read<P, Row>(query: Query<P, Row>, params: P): readonly Row[] {
    if (query.names.length > 0) return this.#statements.all(query, params);
    let found = this.#reads.get(query) as readonly Row[] | undefined;
    if (found === undefined) {
      found = this.#statements.all(query, params);
      this.#reads.set(query, found);
    }
    return found;
  }

  /** Finds the row with the key that is among the values. */
  find(table: KeyedTable, values: RowValues): BatchRow {
    const { rows, select } = this.#getTable(table);
    const key = toKey(table, values);
    let row = rows.get(key);
    if (row === undefined) {
      const found = select.get(...table.key.map((column) => values[column]));
      const stored = (found ?? null) as FoundRow;
      row = { values: stored, isStored: stored !== null, unwritten: [] };
      rows.set(key, row);
    }
    return row;
  }

  /** Gives a row new values in some columns, or in all if it is not there. */
  change(table: KeyedTable, row: BatchRow, values: RowValues): void {
    this.#remember(row);
    this.#changed.add(table.name);
    row.values = { ...row.values, ...values };
    row.unwritten = unite(row.unwritten, Object.keys(values));
  }

  /**
   * Adds a row with the statement's own text; false if its key is known to exist. A key that was not loaded
   * is assumed to be free, because most are new; if it is not, the statement fails.
   */
  insertKeyed<P>(table: KeyedTable, values: RowValues, query: Query<P, never>, params: P): boolean {
    const { rows } = this.#getTable(table);
    const key = toKey(table, values);
    const before = rows.get(key);
    if (before !== undefined && before.values !== null) return false;
    rows.set(key, { values, isStored: true, unwritten: [] });
    this.#undo.push(() => (before === undefined ? rows.delete(key) : rows.set(key, before)));
    this.#changed.add(table.name);
    this.#insert(query, params);
    return true;
  }

  /** Adds a row that no statement in row form looks for. */
  insert<P>(name: string, query: Query<P, never>, params: P): void {
    this.#added.add(name);
    this.#changed.add(name);
    this.#insert(query, params);
  }

  /** Keeps what was changed since the last job. */
  keepJob(): void {
    this.#undo = [];
  }

  /** Forgets what was changed since the last job. */
  undoJob(): void {
    for (const undo of this.#undo.toReversed()) undo();
    this.#undo = [];
  }

  /** Writes everything. Throws if the database refuses a row; then only a part is written. */
  write(): void {
    for (const insert of this.#inserts) insert();
    for (const [table, { rows, writes }] of this.#tables) {
      if (!this.#changed.has(table.name)) continue;
      for (const row of rows.values()) {
        if (row.unwritten.length > 0) this.#writeRow(table, writes, row);
      }
    }
  }

  /** Forgets all rows, so that the next batch reads them again. */
  clear(): void {
    for (const { rows } of this.#tables.values()) rows.clear();
    this.#reads.clear();
    this.#changed.clear();
    this.#added.clear();
    this.#inserts = [];
    this.#undo = [];
  }

  #remember(row: BatchRow): void {
    const before = { ...row };
    this.#undo.push(() => Object.assign(row, before));
  }

  #insert<P>(query: Query<P, never>, params: P): void {
    const { length } = this.#inserts;
    this.#inserts.push(this.#statements.bind(query, params));
    this.#undo.push(() => (this.#inserts.length = length));
  }

  #writeRow(
    table: KeyedTable,
    known: BatchTable["writes"],
    { values, isStored, unwritten }: BatchRow,
  ): void {
    const name = `${isStored ? "update" : "insert"} ${unwritten.join()}`;
    let statement = known.get(name);
    if (statement === undefined) {
      statement = this.#db.prepare((isStored ? toUpdate : toInsert)(table, unwritten));
      known.set(name, statement);
    }
    const bound = isStored ? [...unwritten, ...table.key] : unwritten;
    const { changes } = statement.run(...bound.map((column) => values?.[column]));
    if (changes !== 1) throw new Error(`a row of ${table.name} was not written`);
  }

  #getTable(table: KeyedTable): BatchTable {
    let known = this.#tables.get(table);
    if (known === undefined) {
      const { name, key, columns, where = "true" } = table;
      const select = `SELECT ${columns.join(", ")} FROM ${name} WHERE ${toCondition(key)} AND ${where}`;
      known = {
        rows: new Map(),
        select: this.#db.prepare(select),
        writes: new Map(),
      };
      this.#tables.set(table, known);
    }
    return known;
  }
}

function toInsert({ name }: KeyedTable, columns: readonly string[]): string {
  const places = columns.map(() => "?").join(", ");
  return `INSERT INTO ${name} (${columns.join(", ")}) VALUES (${places})`;
}

function toUpdate({ name, key }: KeyedTable, columns: readonly string[]): string {
  const set = columns.map((column) => `${column} = ?`).join(", ");
  return `UPDATE ${name} SET ${set} WHERE ${toCondition(key)}`;
}

function toCondition(key: readonly string[]): string {
  return key.map((column) => `${column} = ?`).join(" AND ");
}

/** Most jobs of a batch change the same columns of a row. */
function unite(before: readonly string[], columns: readonly string[]): readonly string[] {
  if (before.length === 0) return columns;
  const further = columns.filter((column) => !before.includes(column));
  return further.length === 0 ? before : [...before, ...further];
}
