import { limits } from "@agent/wire";
import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { open } from "./store.ts";

/**
 * Adds to what happened to a task; the rest of it is read from its row. Nobody can make a row grow
 * without end.
 */
function noted(type: string, detail = sql`'{}'`) {
  return sql<string>`case when json_array_length(events) < ${sql.lit(limits.taskEvents)} then
    json_insert(events, '$[#]', json_patch(
      json_object('type', ${sql.lit(type)}, 'at', cast(${p("now")} as integer)), ${detail}))
    else events end`;
}

const executor = sql<string>`coalesce(assigned_to, agent_id)`;

export interface Claim {
  readonly task_id: string;
  readonly executor: string;
  readonly claimed_by: string;
  readonly lease_until: number;
  readonly now: number;
}

const claim = prepare<Claim>()(
  db
    .updateTable("tasks")
    .set({
      status: "claimed",
      claimed_by: p("claimed_by"),
      lease_until: p("lease_until"),
      events: noted("claimed"),
    })
    .where("task_id", "=", p("task_id"))
    .where("status", "=", "pending")
    .where("expires_at", ">", p("now"))
    .where(executor, "=", p("executor")),
);

/** Gives a pending task to one worker of its executor; the first claim wins. */
export async function claimPending(tx: Tx, request: Claim): Promise<boolean> {
  return (await tx.run(claim, request)) === 1;
}

const renew = prepare<Pick<Claim, "task_id" | "claimed_by" | "lease_until">>()(
  db
    .updateTable("tasks")
    .set({ lease_until: p("lease_until") })
    .where("task_id", "=", p("task_id"))
    .where("status", "=", "claimed")
    .where("claimed_by", "=", p("claimed_by")),
);

export async function renewLease(
  tx: Tx,
  lease: Pick<Claim, "task_id" | "claimed_by" | "lease_until">,
): Promise<boolean> {
  return (await tx.run(renew, lease)) === 1;
}

type Progress = Pick<Claim, "task_id" | "claimed_by" | "lease_until" | "now"> & {
  readonly note: string;
};

const progressed = prepare<Progress>()(
  db
    .updateTable("tasks")
    .set({
      lease_until: p("lease_until"),
      events: noted("progress", sql`json_object('note', ${p("note")})`),
    })
    .where("task_id", "=", p("task_id"))
    .where("status", "=", "claimed")
    .where("claimed_by", "=", p("claimed_by")),
);

/** As a renewal, with a word of how the work goes. */
export async function noteProgress(tx: Tx, progress: Progress): Promise<boolean> {
  return (await tx.run(progressed, progress)) === 1;
}

const unclaimed = db
  .updateTable("tasks")
  .set({ status: "pending", claimed_by: null, lease_until: null, events: noted("released") })
  .where("task_id", "=", p("task_id"))
  .where("status", "=", "claimed");

const release = prepare<Pick<Claim, "task_id" | "claimed_by" | "now">>()(
  unclaimed.where("claimed_by", "=", p("claimed_by")),
);

/** Gives a claim back: the worker will not do the task. */
export async function releaseClaim(
  tx: Tx,
  claimed: Pick<Claim, "task_id" | "claimed_by" | "now">,
): Promise<boolean> {
  return (await tx.run(release, claimed)) === 1;
}

const lapse = prepare<Pick<Claim, "task_id" | "now">>()(
  unclaimed.where("lease_until", "<=", p("now")),
);

/** Takes a task back from a worker that has gone silent, unless it was heard of meanwhile. */
export async function lapseClaim(tx: Tx, task_id: string, now: number): Promise<boolean> {
  return (await tx.run(lapse, { task_id, now })) === 1;
}

const lapsed = prepare<{ now: number; limit: number }>()(
  db
    .selectFrom("tasks")
    .selectAll()
    .where("status", "=", "claimed")
    .where("lease_until", "<=", p("now"))
    .limit(p("limit")),
);

/** Claimed tasks whose worker has gone silent. */
export function lapsedTasks(read: Reader, now: number, limit: number): Promise<TaskRow[]> {
  return read.all(lapsed, { now, limit });
}

type Reassignment = Pick<TaskRow, "task_id" | "assigned_to" | "attempt" | "charge"> & {
  readonly from_attempt: number;
  readonly now: number;
};

const reassign = prepare<Reassignment>()(
  db
    .updateTable("tasks")
    .set({
      assigned_to: p("assigned_to"),
      attempt: p("attempt"),
      charge: p("charge"),
      events: noted("reassigned", sql`json_object('assigned_to', ${p("assigned_to")})`),
    })
    .where("task_id", "=", p("task_id"))
    .where("attempt", "=", p("from_attempt"))
    .where("status", "=", "pending"),
);

/** Hands a pending task to the next executor, unless somebody claimed it or handed it on already. */
export async function reassignTask(tx: Tx, change: Reassignment): Promise<boolean> {
  return (await tx.run(reassign, change)) === 1;
}

const pendingFor = db
  .selectFrom("tasks")
  .where(executor, "=", p("executor"))
  .where(open)
  .where("status", "=", "pending")
  .where("expires_at", ">", p("now"))
  .limit(p("limit"));

export interface PendingQuery {
  readonly executor: string;
  readonly now: number;
  readonly limit: number;
}

const pendingPage = prepare<PendingQuery & { after: string }>()(
  pendingFor.selectAll().where("task_id", ">", p("after")).orderBy("task_id"),
);

/** What an executor has not begun, oldest first; `after` is a task id. */
export function pendingTasks(
  read: Reader,
  query: PendingQuery & { after: string },
): Promise<TaskRow[]> {
  return read.all(pendingPage, query);
}

const pendingNames = prepare<PendingQuery>()(
  pendingFor.select(["task_id", "required_capabilities"]).orderBy("task_id"),
);

/** The same by name only: prompts are large. */
export function pendingTaskIds(read: Reader, query: PendingQuery) {
  return read.all(pendingNames, query);
}

const awaited = prepare<{ now: number }>()(
  db
    .selectFrom("tasks")
    .select(executor.as("executor"))
    .distinct()
    .where(open)
    .where("status", "=", "pending")
    .where("expires_at", ">", p("now")),
);

/** Everybody for whom a task waits; looks at all open tasks. */
export function awaitedExecutors(read: Reader, now: number): Promise<{ executor: string }[]> {
  return read.all(awaited, { now });
}
