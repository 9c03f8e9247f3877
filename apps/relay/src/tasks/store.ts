import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { StoredTaskRow, TaskRow } from "../storage/tables/tasks.ts";

const taskById = prepare<{ task_id: string }>()(
  db.selectFrom("tasks").selectAll().where("task_id", "=", p("task_id")),
);

export function findTask(read: Reader, task_id: string): Promise<StoredTaskRow | undefined> {
  return read.get(taskById, { task_id });
}

const addTask = prepare<TaskRow>()(
  db.insertInto("tasks").values({
    task_id: p("task_id"),
    agent_id: p("agent_id"),
    submitted_by: p("submitted_by"),
    assigned_to: p("assigned_to"),
    status: p("status"),
    prompt: p("prompt"),
    required_capabilities: p("required_capabilities"),
    submitted_at: p("submitted_at"),
    expires_at: p("expires_at"),
    wall_clock_ms: p("wall_clock_ms"),
    step_id: p("step_id"),
    routing_choice: p("routing_choice"),
    attempts: p("attempts"),
    attempt: p("attempt"),
    charge: p("charge"),
    locked: p("locked"),
    allocation_id: p("allocation_id"),
    claimed_by: p("claimed_by"),
    lease_until: p("lease_until"),
    blamed: p("blamed"),
    receipt_hash: p("receipt_hash"),
    finished_at: p("finished_at"),
    delegation_token: p("delegation_token"),
    events: "[]",
  }),
);

export async function insertTask(tx: Tx, task: TaskRow): Promise<void> {
  await tx.run(addTask, task);
}

/** Of a task that has not ended. */
export const open = sql<boolean>`status in ('pending', 'claimed')`;

const finish = prepare<
  Pick<TaskRow, "task_id" | "status" | "receipt_hash" | "attempt"> & {
    now: number;
    executor: string;
  }
>()(
  db
    .updateTable("tasks")
    .set({ status: p("status"), receipt_hash: p("receipt_hash"), finished_at: p("now") })
    .where("task_id", "=", p("task_id"))
    .where(open)
    .where("expires_at", ">", p("now"))
    .where("attempt", "=", p("attempt"))
    .where(sql`coalesce(assigned_to, agent_id)`, "=", p("executor")),
);

/**
 * Ends an open task by its executor's receipt; false when it is no longer open, no longer that
 * executor's, or not at the attempt that its caller has read, and with it the price. This guard is
 * the only thing that stands between two settlements.
 */
export async function finishTask(
  tx: Tx,
  task: Pick<TaskRow, "task_id" | "attempt">,
  end: Pick<TaskRow, "status" | "receipt_hash"> & { now: number; executor: string },
): Promise<boolean> {
  return (await tx.run(finish, { task_id: task.task_id, attempt: task.attempt, ...end })) === 1;
}

const cancel = prepare<{ task_id: string; now: number }>()(
  db
    .updateTable("tasks")
    .set({ status: "cancelled", finished_at: p("now") })
    .where("task_id", "=", p("task_id"))
    .where("status", "=", "pending")
    .where("expires_at", ">", p("now"))
    .returningAll(),
);

export function cancelPending(tx: Tx, task_id: string, now: number): Promise<TaskRow | undefined> {
  return tx.get(cancel, { task_id, now });
}

const blame = prepare<{ task_id: string }>()(
  db
    .updateTable("tasks")
    .set({ blamed: 1 })
    .where("task_id", "=", p("task_id"))
    .where("blamed", "=", 0)
    .where(open),
);

/** Notes that the executor posted a bad signature; true the first time. */
export async function blameExecutor(tx: Tx, task_id: string): Promise<boolean> {
  return (await tx.run(blame, { task_id })) === 1;
}

const expired = prepare<{ now: number; limit: number }>()(
  db
    .selectFrom("tasks")
    .select("task_id")
    .where("expires_at", "<=", p("now"))
    .where(open)
    .orderBy("expires_at")
    .limit(p("limit")),
);

export function expiredTasks(read: Reader, now: number, limit: number) {
  return read.all(expired, { now, limit });
}

const removeOpen = prepare<{ task_id: string; now: number }>()(
  db
    .deleteFrom("tasks")
    .where("task_id", "=", p("task_id"))
    .where("expires_at", "<=", p("now"))
    .where(open)
    .returningAll(),
);

export function removeExpired(
  tx: Tx,
  task_id: string,
  now: number,
): Promise<StoredTaskRow | undefined> {
  return tx.get(removeOpen, { task_id, now });
}

const removeFinished = prepare<{ before: string; until: number; limit: number }>()(
  db
    .deleteFrom("tasks")
    .where(
      "task_id",
      "in",
      db
        .selectFrom("tasks")
        .select("task_id")
        .where("task_id", "<", p("before"))
        .where("finished_at", "<=", p("until"))
        .limit(p("limit")),
    ),
);

/**
 * Forgets tasks that were finished by `until`; receipts, settlements and postings are kept. `before`
 * is the least id of that time: what was finished by then has a smaller one.
 */
export function forgetFinished(
  tx: Tx,
  old: { before: string; until: number; limit: number },
): Promise<number> {
  return tx.run(removeFinished, old);
}

const removeOfPeers = prepare<{ until: number; limit: number }>()(
  sql<never>`
    delete from tasks where task_id in (
      select task_id from tasks indexed by tasks_of_peers
      where submitted_by glob 'relay:*' and finished_at <= ${p("until")} limit ${p("limit")})`,
);

/** The same for tasks that peers submitted: an id of a peer's making is not bound to any time. */
export function forgetFinishedOfPeers(
  tx: Tx,
  old: { until: number; limit: number },
): Promise<number> {
  return tx.run(removeOfPeers, old);
}

/** Which tasks a list shows: addressed or assigned to an agent, or submitted by it. */
export interface TaskQuery {
  readonly agent_id: string;
  /** Empty: any. */
  readonly status: string;
  readonly before: string;
  readonly limit: number;
}

const statusIs = sql<boolean>`(${p("status")} = '' or status = ${p("status")})`;

const tasksByAgent = prepare<TaskQuery>()(
  db
    .selectFrom("tasks")
    .selectAll()
    .where((where) =>
      where.or([where("agent_id", "=", p("agent_id")), where("assigned_to", "=", p("agent_id"))]),
    )
    .where("task_id", "<", p("before"))
    .where(statusIs)
    .orderBy("task_id", "desc")
    .limit(p("limit")),
);

const tasksBySubmitter = prepare<TaskQuery>()(
  db
    .selectFrom("tasks")
    .selectAll()
    .where("submitted_by", "=", p("agent_id"))
    .where("task_id", "<", p("before"))
    .where(statusIs)
    .orderBy("task_id", "desc")
    .limit(p("limit")),
);

export function tasksFor(read: Reader, query: TaskQuery): Promise<TaskRow[]> {
  return read.all(tasksByAgent, query);
}

export function tasksFrom(read: Reader, query: TaskQuery): Promise<TaskRow[]> {
  return read.all(tasksBySubmitter, query);
}
