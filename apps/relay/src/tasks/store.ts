import type { EndedBy } from "@agent/federation-protocol/forwarding";
import { peerClaimRef } from "../federation/peer-ref.ts";
import {
  inBatches,
  queryBuilder,
  param,
  params,
  compile,
  either,
  sql,
} from "../storage/queries/compiled-query.ts";
import { indexedBy } from "../storage/queries/fragments.ts";
import { inRowForm, pickColumns, type RowValues } from "../storage/queries/row-form.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import { recordTaskEvent } from "./events/record-task-event.ts";
import { KEYED_TABLES } from "../storage/tables/keyed-tables.ts";
import { TASK_COLUMNS, type StoredTaskRow, type TaskRow } from "../storage/tables/tasks.ts";

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
 * Returns when a process must route a pending task again, in case the one that stored it ended first: a
 * while after a time. SQLite has one process, which routes what waits when it starts.
 */
export const rerouteAfter = (time: string) =>
  either({
    sqlite: sql<number | null>`null`,
    postgres: sql<number | null>`cast(${param(time)} as bigint) + ${sql.lit(REROUTE_AFTER_MS)}`,
  });

const NEW_TASK_COLUMNS = [
  "task_id",
  "agent_id",
  "submitted_by",
  "origin_peer",
  "assigned_to",
  "status",
  "prompt",
  "required_capabilities",
  "submitted_at",
  "expires_at",
  "wall_clock_ms",
  "step_id",
  "routing_choice",
  "attempts",
  "attempt",
  "via_peer",
  "charge",
  "locked",
  "allocation_id",
  "claimed_by",
  "lease_until",
  "blamed",
  "receipt_hash",
  "finished_at",
  "delegation_token",
  "trace",
  "depth",
  "ancestors",
  "acceptance",
] as const satisfies readonly (keyof TaskRow)[];

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

interface TaskEnd extends Pick<TaskRow, "task_id" | "status" | "receipt_hash" | "attempt"> {
  readonly now: number;
  readonly executor: string;
}

const finishUpdate = queryBuilder
  .updateTable("tasks")
  .set({ ...params("status", "receipt_hash"), finished_at: param("now") })
  .where("task_id", "=", param("task_id"))
  .where(taskIsOpen)
  .where("expires_at", ">", param("now"))
  .where("attempt", "=", param("attempt"))
  .where(sql`coalesce(assigned_to, agent_id)`, "=", param("executor"));

const finishByReceipt = inRowForm(
  compile<TaskEnd & { key_registered: 0 | 1 }>()(
    finishUpdate
      .where("via_peer", "is", null)
      .where(sql<boolean>`(locked = 0 or cast(${param("key_registered")} as bigint) = 1)`),
  ),
  {
    kind: "update",
    table: KEYED_TABLES.tasks,
    change: (row, { key_registered, ...end }) =>
      row["via_peer"] === null && (row["locked"] === 0 || key_registered === 1)
        ? finishRow(row, end)
        : undefined,
  },
);

const finishByPeer = inRowForm(
  compile<TaskEnd & { claimed_by: string }>()(
    finishUpdate.where("claimed_by", "=", param("claimed_by")),
  ),
  {
    kind: "update",
    table: KEYED_TABLES.tasks,
    change: (row, { claimed_by, ...end }) =>
      row["claimed_by"] === claimed_by ? finishRow(row, end) : undefined,
  },
);

/** Does what `finishUpdate` does to a row. */
function finishRow(row: RowValues, end: Omit<TaskEnd, "task_id">): RowValues | undefined {
  const { status, receipt_hash, attempt, executor, now } = end;
  const isOpen = row["status"] === "pending" || row["status"] === "claimed";
  const isExecutor = (row["assigned_to"] ?? row["agent_id"]) === executor;
  return isOpen && Number(row["expires_at"]) > now && row["attempt"] === attempt && isExecutor
    ? { status, receipt_hash, finished_at: now }
    : undefined;
}

/**
 * Ends an open task; false when it is no longer open, no longer that executor's, not at the attempt
 * (and so the price) that its caller has read, or must not be ended in this way (`canEndTask`).
 * This guard alone prevents a second settlement.
 */
export async function finishTask(
  tx: Tx,
  task: Pick<TaskRow, "task_id" | "attempt">,
  { endedBy, ...end }: Omit<TaskEnd, "task_id" | "attempt"> & { readonly endedBy: EndedBy },
): Promise<boolean> {
  const { task_id, attempt } = task;
  const ending = { task_id, attempt, ...end };
  if (endedBy.kind === "peer") {
    return (
      (await tx.run(finishByPeer, { ...ending, claimed_by: peerClaimRef(endedBy.relayId) })) === 1
    );
  }
  const key_registered = endedBy.isKeyRegistered ? 1 : 0;
  return (await tx.run(finishByReceipt, { ...ending, key_registered })) === 1;
}

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

const selectExpired = compile<{ now: number; limit: number }>()(
  queryBuilder
    .selectFrom("tasks")
    .select("task_id")
    .where("expires_at", "<=", param("now"))
    .where(taskIsOpen)
    .orderBy("expires_at")
    .limit(param("limit")),
);

export function listExpiredTasks(read: Reader, now: number, limit: number) {
  return read.all(selectExpired, { now, limit });
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

const deleteOverdue = compile<{ task_id: string; now: number }>()(
  queryBuilder
    .deleteFrom("tasks")
    .where("task_id", "=", param("task_id"))
    .where("expires_at", "<=", param("now"))
    .where(taskIsOpen)
    .returning(TASK_COLUMNS),
);

export function deleteExpiredTask(
  tx: Tx,
  task_id: string,
  now: number,
): Promise<StoredTaskRow | undefined> {
  return tx.get(deleteOverdue, { task_id, now });
}

/** An open inspection keeps its task, because its parties and its arbiter read it. */
export const hasNoOpenInspection = sql<boolean>`not exists (
  select 1 from inspections where inspections.task_id = tasks.task_id and closed_at is null)`;

/** A task is deleted after its events, which are too many for one transaction with other tasks. */
const hasNoEventRows = sql<boolean>`not exists (
  select 1 from task_events where task_events.task_id = tasks.task_id)`;

const deleteFinished = compile<{ before: string; until: number; limit: number }>()(
  queryBuilder
    .deleteFrom("tasks")
    .where(
      "task_id",
      "in",
      queryBuilder
        .selectFrom("tasks")
        .select("task_id")
        .where("task_id", "<", param("before"))
        .where("finished_at", "<=", param("until"))
        .where(hasNoEventRows)
        .where(hasNoOpenInspection)
        .limit(param("limit")),
    ),
);

/**
 * Deletes tasks that were finished by `until`; receipts, settlements and postings stay. `before` is
 * the smallest id of that time: tasks finished by then have a smaller one.
 */
export function purgeFinishedTasks(
  tx: Tx,
  old: { before: string; until: number; limit: number },
): Promise<number> {
  return tx.run(deleteFinished, old);
}

const deleteFinishedOfPeers = compile<{ until: number; limit: number }>()(
  sql<never>`
    delete from tasks where task_id in (
      select task_id from tasks ${indexedBy("tasks_of_peers")}
      where origin_peer is not null and finished_at <= ${param("until")} and ${hasNoEventRows} limit ${param("limit")})`,
);

/** Deletes finished tasks that peers submitted: their ids were made by peers and imply no time. */
export function purgeFinishedPeerTasks(
  tx: Tx,
  old: { until: number; limit: number },
): Promise<number> {
  return tx.run(deleteFinishedOfPeers, old);
}

/** Selects the tasks of a list: addressed or assigned to an agent, or submitted by it. */
export interface TaskQuery {
  readonly agent_id: string;
  /** An empty text matches any status. */
  readonly status: string;
  readonly before: string;
  readonly limit: number;
}

const statusIs = sql<boolean>`(${param("status")} = '' or status = ${param("status")})`;

const tasksByAgent = compile<TaskQuery>()(
  queryBuilder
    .selectFrom("tasks")
    .select(TASK_COLUMNS)
    .where((where) =>
      where.or([
        where("agent_id", "=", param("agent_id")),
        where("assigned_to", "=", param("agent_id")),
      ]),
    )
    .where("task_id", "<", param("before"))
    .where(statusIs)
    .orderBy("task_id", "desc")
    .limit(param("limit")),
);

const tasksBySubmitter = compile<TaskQuery>()(
  queryBuilder
    .selectFrom("tasks")
    .select(TASK_COLUMNS)
    .where("submitted_by", "=", param("agent_id"))
    .where("task_id", "<", param("before"))
    .where(statusIs)
    .orderBy("task_id", "desc")
    .limit(param("limit")),
);

export function listTasksForAgent(read: Reader, query: TaskQuery): Promise<TaskRow[]> {
  return read.all(tasksByAgent, query);
}

export function listTasksBySubmitter(read: Reader, query: TaskQuery): Promise<TaskRow[]> {
  return read.all(tasksBySubmitter, query);
}
