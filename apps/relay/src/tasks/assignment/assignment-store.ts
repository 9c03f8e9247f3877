import { queryBuilder, param, params, compile } from "../../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import { TASK_COLUMNS, type TaskRow } from "../../storage/tables/tasks.ts";
import { recordTaskEvent } from "../events/record-task-event.ts";
import { insertTaskEvent, nextEventCount } from "../events/event-store.ts";
import { rerouteAfter, taskExecutor, taskIsOpen } from "../store.ts";

type Reassignment = Pick<TaskRow, "task_id" | "assigned_to" | "attempt" | "via_peer" | "charge"> & {
  readonly from_attempt: number;
  readonly now: number;
};

const reassign = compile<Reassignment>()(
  queryBuilder
    .updateTable("tasks")
    .set({
      ...params("assigned_to", "attempt", "via_peer", "charge"),
      event_count: nextEventCount,
      bring_at: rerouteAfter("now"),
    })
    .where("task_id", "=", param("task_id"))
    .where("attempt", "=", param("from_attempt"))
    .where("status", "=", "pending")
    .returning(["task_id", "event_count", "agent_id", "assigned_to", "submitted_by"]),
);

/** Assigns a pending task to the next executor, unless it was claimed or reassigned in the meantime. */
export async function reassignTask(tx: Tx, change: Reassignment): Promise<boolean> {
  const reassigned = await tx.get(reassign, change);
  if (reassigned === undefined) return false;
  const { assigned_to, now } = change;
  await insertTaskEvent(tx, reassigned, { type: "reassigned", at: now, assigned_to });
  await recordTaskEvent(tx, reassigned, { type: "reassigned", at: now });
  return true;
}

const pendingPage = queryBuilder
  .selectFrom("tasks")
  .where(taskIsOpen)
  .where("status", "=", "pending")
  .where("expires_at", ">", param("now"))
  .where("task_id", ">", param("after"))
  .orderBy("task_id")
  .limit(param("limit"));

const pendingQuery = pendingPage.where(taskExecutor, "=", param("executor"));

export interface PendingPage {
  readonly now: number;
  readonly limit: number;
  /** A task id; empty for the first page. */
  readonly after: string;
}

export interface PendingQuery extends PendingPage {
  readonly executor: string;
}

const selectPending = compile<PendingQuery>()(pendingQuery.select(TASK_COLUMNS));

/** Lists an executor's pending tasks, oldest first. */
export function listPendingTasks(read: Reader, query: PendingQuery): Promise<TaskRow[]> {
  return read.all(selectPending, query);
}

const selectPendingIds = compile<PendingQuery>()(
  pendingQuery.select(["task_id", "required_capabilities"]),
);

/** Lists the same tasks without their prompts, which are large. */
export function listPendingTaskIds(read: Reader, query: PendingQuery) {
  return read.all(selectPendingIds, query);
}

const bySubmitter = param("submitted_by");

const selectPendingOfPair = compile<PendingQuery & { submitted_by: string }>()(
  pendingQuery.where("submitted_by", "=", bySubmitter).select("task_id"),
);

/** Lists a submitter's tasks that wait for one executor. */
export function listPendingOfPair(
  read: Reader,
  query: PendingQuery & { readonly submitted_by: string },
) {
  return read.all(selectPendingOfPair, query);
}

const selectPendingOfSubmitter = compile<PendingPage & { submitted_by: string }>()(
  pendingPage.where("submitted_by", "=", bySubmitter).select("task_id"),
);

/** Lists a submitter's tasks that wait for any executor. */
export function listPendingOfSubmitter(
  read: Reader,
  query: PendingPage & { readonly submitted_by: string },
) {
  return read.all(selectPendingOfSubmitter, query);
}

const selectWaitingExecutors = compile<{ now: number }>()(
  queryBuilder
    .selectFrom("tasks")
    .select(taskExecutor.as("executor"))
    .distinct()
    .where(taskIsOpen)
    .where("status", "=", "pending")
    .where("expires_at", ">", param("now")),
);

/** Lists executors for whom a task waits; reads all open tasks. */
export function listExecutorsWithPendingTasks(
  read: Reader,
  now: number,
): Promise<{ executor: string }[]> {
  return read.all(selectWaitingExecutors, { now });
}
