import { limits } from "@agent/wire";
import { queryBuilder, param, params, compile, sql } from "../../storage/queries/compiled-query.ts";
import { hasNoRecentInspection } from "../retention-store.ts";
import { jsonTexts } from "../../storage/queries/fragments.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { StoredTaskRow, TaskEventRow } from "../../storage/tables/tasks.ts";

/** Counts one more event of a task, up to the limit. */
export const nextEventCount = sql<number>`case when event_count < ${sql.lit(limits.taskEvents)}
  then event_count + 1 else event_count end`;

/** The time of a claim that is the first recorded event of its task. */
export const firstClaimedAt = sql<number>`case when event_count = 0
  then cast(${param("now")} as bigint) else first_claimed_at end`;

const eventInsert = compile<TaskEventRow>()(
  queryBuilder
    .insertInto("task_events")
    .values(params("task_id", "event_id", "type", "at", "note", "assigned_to"))
    .onConflict((conflict) => conflict.doNothing()),
);

/** An event without its task and number. */
export type NewTaskEvent = Pick<TaskEventRow, "type" | "at"> &
  Partial<Pick<TaskEventRow, "note" | "assigned_to">>;

/**
 * Stores an event under the task's newest number, in the transaction that counted it. Beyond the limit the
 * count does not change, the number is already used, and the event is dropped.
 */
export async function insertTaskEvent(
  tx: Tx,
  { task_id, event_count }: Pick<StoredTaskRow, "task_id" | "event_count">,
  { type, at, note = null, assigned_to = null }: NewTaskEvent,
): Promise<void> {
  await tx.run(eventInsert, { task_id, event_id: 1 + event_count, type, at, note, assigned_to });
}

export interface EventPageQuery {
  readonly task_id: string;
  readonly after: number;
  readonly limit: number;
}

const eventsInOrder = compile<EventPageQuery>()(
  queryBuilder
    .selectFrom("task_events")
    .selectAll()
    .where("task_id", "=", param("task_id"))
    .where("event_id", ">", param("after"))
    .orderBy("event_id")
    .limit(param("limit")),
);

/** Lists a page of the events of a task that have rows of their own. */
export function listEventRows(read: Reader, query: EventPageQuery): Promise<TaskEventRow[]> {
  return read.all(eventsInOrder, query);
}

const WATCHED_COLUMNS = [
  "task_id",
  "agent_id",
  "submitted_by",
  "assigned_to",
  "via_peer",
  "status",
  "submitted_at",
  "expires_at",
  "finished_at",
  "event_count",
  "first_claimed_at",
] as const;

/** The columns of a task that its event streams need: none of its texts, which are large. */
export type WatchedTask = Pick<StoredTaskRow, (typeof WATCHED_COLUMNS)[number]>;

const watchedById = compile<{ task_id: string }>()(
  queryBuilder.selectFrom("tasks").select(WATCHED_COLUMNS).where("task_id", "=", param("task_id")),
);

export function findWatchedTask(read: Reader, task_id: string): Promise<WatchedTask | undefined> {
  return read.get(watchedById, { task_id });
}

const watchedByIds = compile<{ ids: string }>()(
  queryBuilder
    .selectFrom("tasks")
    .select(["task_id", "event_count", "finished_at"])
    .where(sql<boolean>`task_id in ${jsonTexts(param("ids"))}`),
);

/** Lists the columns that determine the newest event of each task. */
export function listNewestEvents(
  read: Reader,
  taskIds: readonly string[],
): Promise<Pick<StoredTaskRow, "task_id" | "event_count" | "finished_at">[]> {
  return read.all(watchedByIds, { ids: JSON.stringify(taskIds) });
}

const notesOfTask = compile<{ task_id: string }>()(
  queryBuilder
    .selectFrom("task_events")
    .select(["event_id", "note"])
    .where("task_id", "=", param("task_id"))
    .where("note", "is not", null),
);

const noteUpdate = compile<{ task_id: string; event_id: number; note: string }>()(
  queryBuilder
    .updateTable("task_events")
    .set(params("note"))
    .where("task_id", "=", param("task_id"))
    .where("event_id", "=", param("event_id")),
);

/** Replaces each note of a task. */
export async function replaceNotes(
  tx: Tx,
  task_id: string,
  replace: (note: string) => string,
): Promise<void> {
  for (const { event_id, note } of await tx.all(notesOfTask, { task_id })) {
    if (note !== null) await tx.run(noteUpdate, { task_id, event_id, note: replace(note) });
  }
}

const deleteOldEvents = compile<{ before: string; until: number; limit: number }>()(
  sql<never>`
    delete from task_events where (task_id, event_id) in (
      select task_events.task_id, task_events.event_id
      from task_events join tasks on tasks.task_id = task_events.task_id
      where task_events.task_id < ${param("before")} and tasks.finished_at <= ${param("until")}
        and ${hasNoRecentInspection}
      limit ${param("limit")})`,
);

/** Deletes the events of tasks that were finished by `until`, as `purgeFinishedTasks` selects them. */
export function purgeEventsOfFinishedTasks(
  tx: Tx,
  old: { before: string; until: number; limit: number },
): Promise<number> {
  return tx.run(deleteOldEvents, old);
}

const deleteOldEventsOfPeers = compile<{ until: number; limit: number }>()(
  sql<never>`
    delete from task_events where (task_id, event_id) in (
      select task_events.task_id, task_events.event_id
      from tasks join task_events on task_events.task_id = tasks.task_id
      where tasks.origin_peer is not null and tasks.finished_at <= ${param("until")}
      limit ${param("limit")})`,
);

/** Deletes the events of finished tasks that peers submitted. */
export function purgeEventsOfPeerTasks(
  tx: Tx,
  old: { until: number; limit: number },
): Promise<number> {
  return tx.run(deleteOldEventsOfPeers, old);
}
