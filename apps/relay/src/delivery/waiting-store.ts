import { compile, param, queryBuilder, sql } from "../storage/queries/compiled-query.ts";
import { largerOf, smallerOf, skipLocked } from "../storage/queries/fragments.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { taskExecutor } from "../tasks/store.ts";

const MIN_REROUTE_PAUSE_MS = 30_000;
const MAX_REROUTE_PAUSE_MS = 600_000;

/** The older a task, the longer the pause before it is routed again. */
const nextReroute = sql<number>`cast(${param("now")} as bigint) + ${smallerOf(
  largerOf(
    sql`cast(${param("now")} as bigint) - submitted_at`,
    sql`cast(${sql.lit(MIN_REROUTE_PAUSE_MS)} as bigint)`,
  ),
  sql`cast(${sql.lit(MAX_REROUTE_PAUSE_MS)} as bigint)`,
)}`;

const selectWaiting = compile<{ now: number }>()(
  queryBuilder
    .selectFrom("tasks")
    .select("task_id")
    .where("status", "=", "pending")
    .where("bring_at", "is not", null)
    .where("bring_at", "<=", param("now"))
    .where("expires_at", ">", param("now"))
    .limit(1),
);

/** Returns whether a pending task is due to be routed again. */
export async function isAnyTaskDue(read: Reader, now: number): Promise<boolean> {
  return (await read.get(selectWaiting, { now })) !== undefined;
}

const takeWaitingUpdate = compile<{ now: number; limit: number }>()(
  queryBuilder
    .updateTable("tasks")
    .set({ bring_at: nextReroute })
    .where(
      sql<boolean>`task_id in (
        select task_id from tasks
        where status = 'pending' and bring_at is not null and bring_at <= ${param("now")}
          and expires_at > ${param("now")}
        order by bring_at limit ${param("limit")} ${skipLocked})`,
    )
    .returning("task_id"),
);

/** Claims pending tasks that are due to be routed again, so that no other process routes them too. */
export function claimWaitingTasks(
  tx: Tx,
  query: { readonly now: number; readonly limit: number },
): Promise<{ task_id: string }[]> {
  return tx.all(takeWaitingUpdate, query);
}

/** A task that was routed, or taken, this recently may not have been sent to devices that came later. */
const RECENT_MS = MIN_REROUTE_PAUSE_MS;

const selectRecentOfProcess = compile<{ process_id: string; now: number; limit: number }>()(
  queryBuilder
    .selectFrom("tasks")
    .select(["task_id", taskExecutor.as("executor"), "required_capabilities"])
    .where(
      taskExecutor,
      "in",
      queryBuilder
        .selectFrom("presences")
        .select("presences.agent_id")
        .where("process_id", "=", param("process_id")),
    )
    .where("status", "=", "pending")
    .where("bring_at", "is not", null)
    .where("bring_at", "<=", sql<number>`cast(${param("now")} as bigint) + ${sql.lit(RECENT_MS)}`)
    .where("expires_at", ">", param("now"))
    .orderBy("task_id", "desc")
    .limit(param("limit")),
);

interface RecentTask extends Pick<TaskRow, "task_id" | "required_capabilities"> {
  readonly executor: string;
}

/** Lists the tasks that became pending a short time ago for agents with a device at a process, newest first. */
export function listRecentTasksOf(
  read: Reader,
  query: { readonly process_id: string; readonly now: number; readonly limit: number },
): Promise<RecentTask[]> {
  return read.all(selectRecentOfProcess, query);
}
