import type { Client } from "pg";
import type { Query } from "../../queries/compiled-query.ts";
import { toKey, type FoundRow, type KeyedTable, type RowValues } from "../../queries/row-form.ts";
import { sendAtOnce } from "./send-at-once.ts";
import { toNamedStatement, toQueryConfig, toStoredValue } from "../prepared-statement.ts";

interface Wanted {
  readonly send: (client: Client) => Promise<void>;
  readonly done: () => void;
}

interface WantedKeys {
  readonly keys: Map<string, readonly unknown[]>;
  readonly loaded: Promise<void>;
  readonly done: () => void;
}

/**
 * The rows that a batch has read, as they were when it began. What several transactions want at the same time
 * is read by one statement for each table.
 */
export class LoadedRows {
  readonly #rows = new Map<KeyedTable, Map<string, FoundRow>>();
  readonly #reads = new Map<object, Map<string, Promise<readonly unknown[]>>>();
  #wantedKeys = new Map<KeyedTable, WantedKeys>();
  #wantedReads: Wanted[] = [];

  /** Returns undefined for a row that was not loaded. */
  find(table: KeyedTable, key: string): FoundRow | undefined {
    return this.#rows.get(table)?.get(key);
  }

  /** Resolves once the row is loaded, by a later `send`. */
  load(table: KeyedTable, values: Readonly<Record<string, unknown>>): Promise<void> {
    let wanted = this.#wantedKeys.get(table);
    if (wanted === undefined) {
      const { promise: loaded, resolve: done } = Promise.withResolvers<void>();
      wanted = { keys: new Map(), loaded, done };
      this.#wantedKeys.set(table, wanted);
    }
    wanted.keys.set(
      toKey(table, values),
      table.key.map((column) => values[column]),
    );
    return wanted.loaded;
  }

  /** Runs a statement that only reads, by a later `send`; once for the same parameters. */
  read<P, Row>(query: Query<P, Row>, params: P): Promise<readonly Row[]> {
    const reads = this.#reads.get(query) ?? new Map<string, Promise<readonly unknown[]>>();
    this.#reads.set(query, reads);
    const key = JSON.stringify(query.postgres.values(params));
    let rows = reads.get(key);
    if (rows === undefined) {
      const { promise, resolve } = Promise.withResolvers<readonly unknown[]>();
      let answer: readonly unknown[] = [];
      this.#wantedReads.push({
        send: async (client) => {
          answer = (await client.query(toQueryConfig(query, params))).rows;
        },
        done: () => resolve(answer),
      });
      rows = promise;
      reads.set(key, rows);
    }
    return rows as Promise<readonly Row[]>;
  }

  get isWaiting(): boolean {
    return this.#wantedKeys.size > 0 || this.#wantedReads.length > 0;
  }

  /** Reads everything that is wanted. */
  async send(client: Client): Promise<void> {
    const wanted = [
      ...[...this.#wantedKeys].map(([table, { keys, done }]) => ({
        send: () => this.#loadKeys(client, table, keys),
        done,
      })),
      ...this.#wantedReads,
    ];
    this.#wantedKeys = new Map();
    this.#wantedReads = [];
    await sendAtOnce(
      client,
      wanted.map(({ send }) => send),
    );
    for (const { done } of wanted) done();
  }

  async #loadKeys(
    client: Client,
    table: KeyedTable,
    keys: ReadonlyMap<string, readonly unknown[]>,
  ): Promise<void> {
    const rows = this.#rows.get(table) ?? new Map<string, FoundRow>();
    this.#rows.set(table, rows);
    for (const key of keys.keys()) rows.set(key, null);
    const columns = [...keys.values()];
    const values = table.key.map((_, at) => columns.map((key) => toStoredValue(key[at])));
    const found = await client.query({ ...toNamedStatement(getSelect(table)), values });
    for (const row of found.rows as RowValues[]) rows.set(toKey(table, row), row);
  }
}

const selects = new WeakMap<KeyedTable, string>();

/** Returns a statement that selects the rows with one of several keys. All keys are texts. */
function getSelect(table: KeyedTable): string {
  let text = selects.get(table);
  if (text === undefined) {
    const { name, key, columns, where } = table;
    const wanted = key.map((column) => `wanted.${column}`).join(", ");
    const arrays = key.map((_, at) => `$${at + 1}::text[]`).join(", ");
    const names = key.join(", ");
    text =
      `SELECT ${columns.map((column) => `stored.${column}`).join(", ")} ` +
      `FROM unnest(${arrays}) AS wanted (${names}) ` +
      `JOIN ${name} AS stored ON (${key.map((column) => `stored.${column}`).join(", ")}) = (${wanted})${where === undefined ? "" : ` WHERE ${where}`}`;
    selects.set(table, text);
  }
  return text;
}
