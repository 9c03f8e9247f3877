import type { Client } from "pg";
import type { ChangeKind } from "../storage.ts";
import { escapeText } from "./values/escape-text.ts";

const INSERT_CHANGES = {
  name: "insert-changes",
  text: "INSERT INTO changes (origin, kind, key) SELECT $1, * FROM unnest($2::text[], $3::text[])",
};

/** Collects the changes that the transactions of a batch announce to other processes, without duplicates. */
export class NotedChanges {
  readonly #noted = new Map<string, readonly [kind: ChangeKind, key: string]>();

  add(kind: ChangeKind, words: readonly string[]): void {
    const key = words.join(" ");
    this.#noted.set(`${kind} ${key}`, [kind, key]);
  }

  /** Whether a process must read them before its next poll: rankings may be a second old. */
  get isUrgent(): boolean {
    return [...this.#noted.values()].some(([kind]) => kind !== "agents");
  }

  /** Stores the changes in the transaction that makes them. */
  async save(client: Client, origin: string): Promise<void> {
    if (this.#noted.size === 0) return;
    const rows = [...this.#noted.values()];
    const values = [origin, rows.map(([kind]) => kind), rows.map(([, key]) => escapeText(key))];
    await client.query({ ...INSERT_CHANGES, values });
  }
}
