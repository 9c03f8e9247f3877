import Sqlite from "better-sqlite3";
import { copyRows } from "./copy-rows.ts";

/** Copies the only finished task in a database, from outside the relay. */
export function multiplyTasks(path: string, count: number): void {
  const db = new Sqlite(path, { timeout: 10_000 });
  const changed = {
    // Ids of the same millisecond that sort before the original, because ids are in the order of time.
    task_id: "substr(t.task_id, 1, 14) || printf('7000-8000-%012x', n.value)",
    prompt: "'Summarise the minutes of the meeting.'",
  };
  const finished = db.prepare("select task_id from tasks").pluck().get() as string;
  copyRows(db, [{ table: "tasks", where: `task_id = '${finished}'`, changed }], count);
  db.pragma("wal_checkpoint(TRUNCATE)");
  db.close();
}
