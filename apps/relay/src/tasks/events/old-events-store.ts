import { compile, param, queryBuilder, sql } from "../../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { StoredTaskRow } from "../../storage/tables/tasks.ts";

const oldestWithList = compile<{ limit: number }>()(
  sql<{ task_id: string; characters: number }>`
    select task_id, length(events) as characters from tasks
    where events <> '[]' order by task_id limit ${param("limit")}`,
);

/** Lists tasks whose events are still in the list of an older version, with the length of the list. */
export function listTasksWithOldEvents(read: Reader, limit: number) {
  return read.all(oldestWithList, { limit });
}

const oldEventsById = compile<{ task_id: string }>()(
  sql<{ events: string }>`select events from tasks where task_id = ${param("task_id")}`,
);

export async function findOldEvents(read: Reader, task_id: string): Promise<string> {
  return (await read.get(oldEventsById, { task_id }))?.events ?? "[]";
}

type EventColumns = Pick<
  StoredTaskRow,
  "task_id" | "event_count" | "note_bytes" | "first_claimed_at"
>;

const removeList = compile<{ task_id: string }>()(
  sql<never>`update tasks set events = '[]' where task_id = ${param("task_id")}`,
);

const setColumns = compile<EventColumns>()(
  queryBuilder
    .updateTable("tasks")
    .set({
      event_count: param("event_count"),
      note_bytes: param("note_bytes"),
      first_claimed_at: param("first_claimed_at"),
    })
    .where("task_id", "=", param("task_id")),
);

/** Replaces the list of an older version by the columns that describe its events. */
export async function replaceOldEvents(tx: Tx, columns: EventColumns): Promise<void> {
  await tx.run(setColumns, columns);
  await tx.run(removeList, { task_id: columns.task_id });
}
