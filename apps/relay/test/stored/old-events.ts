import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { uuidV7 } from "@agent/crypto";
import Sqlite from "better-sqlite3";
import { createDatabase } from "../../src/storage/database/create-database.ts";
import { migrations } from "../../src/storage/migrations/index.ts";

/** An event in the form in which versions before 037 stored it in its task. */
export interface OldEvent {
  readonly type: "claimed" | "progress" | "released" | "reassigned";
  readonly at: number;
  readonly note?: string;
  readonly assigned_to?: string;
}

/** A database file of a version that stored the events of a task as a list. */
export interface OldDatabase {
  readonly path: string;
  /** The ids of its tasks, which all have the target `old-target` and are open. */
  readonly taskIds: readonly string[];
  delete(): void;
}

/** Creates a database of the version before 037, with an open task for each list of events. */
export function createOldDatabase(lists: readonly (readonly OldEvent[])[]): OldDatabase {
  const expires_at = 9_000_000_000_000;
  const folder = mkdtempSync(join(tmpdir(), "relay-old-events-"));
  const path = join(folder, "relay.db");
  createDatabase(
    path,
    migrations.filter(({ id }) => id < "037"),
  );
  const db = new Sqlite(path);
  const insert = db.prepare(
    `INSERT INTO tasks (task_id, agent_id, status, prompt, required_capabilities, submitted_at,
       expires_at, attempts, attempt, charge, locked, claimed_by, lease_until, claimed_at, events)
     VALUES (?, 'old-target', 'claimed', 'work', '[]', 1, ?, '[]', 0, 0, 0, 'device', ?, 2, ?)`,
  );
  const taskIds = lists.map((list, index) => {
    const task_id = uuidV7(index + 1, new Uint8Array(10));
    insert.run(task_id, expires_at, expires_at, JSON.stringify(list));
    return task_id;
  });
  db.close();
  return { path, taskIds, delete: () => rmSync(folder, { recursive: true }) };
}

/** The maximum number of notes of one task, each of the maximum length, and even longer as JSON. */
export const largestEvents: readonly OldEvent[] = Array.from({ length: 1_000 }, (_, index) => ({
  type: "progress",
  at: index,
  note: "\u0001".repeat(4_096),
}));
