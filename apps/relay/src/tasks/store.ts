import type { EndedBy } from "@agent/federation-protocol";
import { claimOf, PEER_CLAIM_PATTERN } from "../federation/parties.ts";
import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { StoredTaskRow, TaskRow } from "../storage/tables/tasks.ts";
import { isAbroad } from "./view.ts";

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
    trace: p("trace"),
    events: "[]",
  }),
);

export async function insertTask(tx: Tx, task: TaskRow): Promise<void> {
  await tx.run(addTask, task);
}

/** Of a task that has not ended. */
export const open = sql<boolean>`status in ('pending', 'claimed')`;

interface Ending extends Pick<TaskRow, "task_id" | "status" | "receipt_hash" | "attempt"> {
  readonly now: number;
  readonly executor: string;
}

const finish = db
  .updateTable("tasks")
  .set({ status: p("status"), receipt_hash: p("receipt_hash"), finished_at: p("now") })
  .where("task_id", "=", p("task_id"))
  .where(open)
  .where("expires_at", ">", p("now"))
  .where("attempt", "=", p("attempt"))
  .where(sql`coalesce(assigned_to, agent_id)`, "=", p("executor"));

const finishByReceipt = prepare<Ending & { key_registered: 0 | 1 }>()(
  finish
    .where(sql<boolean>`(claimed_by is null or claimed_by not glob ${sql.lit(PEER_CLAIM_PATTERN)})`)
    .where(sql<boolean>`(locked = 0 or ${p("key_registered")} = 1)`),
);

const finishByPeer = prepare<Ending & { claimed_by: string }>()(
  finish.where("claimed_by", "=", p("claimed_by")),
);

/**
 * Ends an open task; false when it is no longer open, no longer that executor's, not at the attempt
 * that its caller has read (and with it the price), or not to be ended in this way (`mayEndTask`).
 * This guard is the only thing that stands between two settlements.
 */
export async function finishTask(
  tx: Tx,
  task: Pick<TaskRow, "task_id" | "attempt" | "attempts">,
  { endedBy, ...end }: Omit<Ending, "task_id" | "attempt"> & { readonly endedBy: EndedBy },
): Promise<boolean> {
  const { task_id, attempt } = task;
  const ending = { task_id, attempt, ...end };
  if (endedBy.kind === "peer") {
    return (await tx.run(finishByPeer, { ...ending, claimed_by: claimOf(endedBy.relayId) })) === 1;
  }
  // Where an attempt leads never changes, and the statement asks for the same attempt.
  if (isAbroad(task)) return false;
  const key_registered = endedBy.isKeyRegistered ? 1 : 0;
  return (await tx.run(finishByReceipt, { ...ending, key_registered })) === 1;
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

const eraseTexts = prepare<{ task_id: string; prompt: string; events: string; now: number }>()(
  db
    .updateTable("tasks")
    .set({ prompt: p("prompt"), events: p("events"), erased_at: p("now") })
    .where("task_id", "=", p("task_id"))
    .where("erased_at", "is", null)
    .where(sql<boolean>`not ${open}`),
);

/** Replaces the texts of a task that has ended; false when it has not, or they are erased already. */
export async function replaceTexts(
  tx: Tx,
  texts: { task_id: string; prompt: string; events: string; now: number },
): Promise<boolean> {
  return (await tx.run(eraseTexts, texts)) === 1;
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
