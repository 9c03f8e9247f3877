import {
  inBatches,
  queryBuilder,
  param,
  params,
  compile,
  either,
  sql,
} from "../storage/queries/compiled-query.ts";
import { inRowForm, pickColumns } from "../storage/queries/row-form.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import { recordTaskEvent } from "./events/record-task-event.ts";
import { KEYED_TABLES } from "../storage/tables/keyed-tables.ts";
import {
  NEW_TASK_COLUMNS,
  TASK_COLUMNS,
  type StoredTaskRow,
  type TaskRow,
} from "../storage/tables/tasks.ts";

const taskById = inBatches(
  compile<{ task_id: string }>()(
    queryBuilder.selectFrom("tasks").select(TASK_COLUMNS).where("task_id", "=", param("task_id")),
  ),
);

export function findTask(read: Reader, task_id: string): Promise<StoredTaskRow | undefined> {
  return read.get(taskById, { task_id });
}

/** Longer than a process needs to route a task that it has just stored. */
const REROUTE_AFTER_MS = 5_000;

/**
 * Returns when a process must route a pending task again, in case the process that stored it ended first.
 * SQLite has one process, which routes waiting tasks when it starts.
 */
export const rerouteAfter = (time: string) =>
  either({
    sqlite: sql<number | null>`null`,
    postgres: sql<number | null>`cast(${param(time)} as bigint) + ${sql.lit(REROUTE_AFTER_MS)}`,
  });

const addTask = inRowForm(
  compile<TaskRow>()(
    queryBuilder.insertInto("tasks").values({
      ...params(...NEW_TASK_COLUMNS),
      event_count: 0,
      note_bytes: 0,
      bring_at: rerouteAfter("submitted_at"),
    }),
  ),
  {
    kind: "insert",
    table: KEYED_TABLES.tasks,
    row: (task) => ({
      ...pickColumns(task, NEW_TASK_COLUMNS),
      event_count: 0,
      note_bytes: 0,
      bring_at: task.submitted_at + REROUTE_AFTER_MS,
    }),
  },
);

export async function insertTask(tx: Tx, task: TaskRow): Promise<void> {
  await tx.run(addTask, task);
  await recordTaskEvent(tx, task, { type: "submitted", at: task.submitted_at });
}

/** Matches tasks that have not ended. */
export const taskIsOpen = sql<boolean>`status in ('pending', 'claimed')`;

/** The agent that a task is assigned to, or otherwise addressed to. */
export const taskExecutor = sql<string>`coalesce(assigned_to, agent_id)`;

const cancelUpdate = compile<{ task_id: string; now: number }>()(
  queryBuilder
    .updateTable("tasks")
    .set({ status: "cancelled", finished_at: param("now") })
    .where("task_id", "=", param("task_id"))
    .where("status", "=", "pending")
    .where("expires_at", ">", param("now"))
    .returning(TASK_COLUMNS),
);

export function cancelPending(tx: Tx, task_id: string, now: number): Promise<TaskRow | undefined> {
  return tx.get(cancelUpdate, { task_id, now });
}

const invalidSignatureUpdate = compile<{ task_id: string }>()(
  queryBuilder
    .updateTable("tasks")
    .set({ blamed: 1 })
    .where("task_id", "=", param("task_id"))
    .where("blamed", "=", 0)
    .where(taskIsOpen),
);

/** Records that the executor submitted an invalid signature; true the first time. */
export async function markInvalidSignature(tx: Tx, task_id: string): Promise<boolean> {
  return (await tx.run(invalidSignatureUpdate, { task_id })) === 1;
}

const promptUpdate = compile<{ task_id: string; prompt: string; now: number }>()(
  queryBuilder
    .updateTable("tasks")
    .set({ prompt: param("prompt"), erased_at: param("now") })
    .where("task_id", "=", param("task_id"))
    .where("erased_at", "is", null)
    .where(sql<boolean>`not ${taskIsOpen}`),
);

/**
 * Replaces the prompt of a task that has ended and marks the task as erased; false when it has not
 * ended, or is erased already.
 */
export async function replacePrompt(
  tx: Tx,
  erased: { task_id: string; prompt: string; now: number },
): Promise<boolean> {
  return (await tx.run(promptUpdate, erased)) === 1;
}
