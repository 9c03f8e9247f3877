import { limits } from "@agent/wire";
import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { StoredTaskRow, TaskRow } from "../storage/tables/tasks.ts";
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
      claimed_at: p("now"),
      worked_at: p("now"),
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

/** One worker's claim of one task. */
export type Held = Pick<Claim, "task_id" | "claimed_by" | "now">;

/** A lease never reaches beyond the submitter's `wall_clock_ms`, counted from the claim. */
const renewedLease = sql<number>`min(cast(${p("now")} as integer) + ${sql.lit(limits.claimLeaseMs)},
  coalesce(cast(claimed_at + wall_clock_ms as integer), ${sql.lit(Number.MAX_SAFE_INTEGER)}))`;

const held = db
  .updateTable("tasks")
  .where("task_id", "=", p("task_id"))
  .where("status", "=", "claimed")
  .where("claimed_by", "=", p("claimed_by"));

const renew = prepare<Held>()(
  held.set({ lease_until: renewedLease }).where("cancel_requested_at", "is", null),
);

/** An open socket keeps a claim alive until its submitter asks for a cancel. */
export async function renewLease(tx: Tx, claimed: Held): Promise<boolean> {
  return (await tx.run(renew, claimed)) === 1;
}

/** What the holder of a claim has to know of it. */
export interface Lease extends Pick<StoredTaskRow, "task_id" | "cancel_requested_at"> {
  readonly lease_until: number;
}

const work = held
  .set({ lease_until: renewedLease, worked_at: p("now") })
  .returning(["task_id", "cancel_requested_at", sql<number>`lease_until`.as("lease_until")]);

const worked = prepare<Held>()(work);

const progressed = prepare<Held & { note: string }>()(
  work.set({ events: noted("progress", sql`json_object('note', ${p("note")})`) }),
);

/** Renews a claim by a sign of work, with or without a note; undefined when it is not the worker's. */
export function renewByWork(
  tx: Tx,
  { note, ...claimed }: Held & { readonly note?: string | undefined },
): Promise<Lease | undefined> {
  return note === undefined ? tx.get(worked, claimed) : tx.get(progressed, { ...claimed, note });
}

const unclaimed = db
  .updateTable("tasks")
  .set({
    status: "pending",
    claimed_by: null,
    lease_until: null,
    claimed_at: null,
    worked_at: null,
    events: noted("released"),
  })
  .where("task_id", "=", p("task_id"))
  .where("status", "=", "claimed")
  .returningAll();

const release = prepare<Held>()(unclaimed.where("claimed_by", "=", p("claimed_by")));

/** Gives a claim back: the worker will not do the task. Answers the task as it is then. */
export function releaseClaim(tx: Tx, claimed: Held): Promise<StoredTaskRow | undefined> {
  return tx.get(release, claimed);
}

const lapse = prepare<Pick<Claim, "task_id" | "now">>()(
  unclaimed.where("lease_until", "<=", p("now")),
);

/** Takes a task back whose lease is over, unless it was renewed meanwhile; the task as it is then. */
export function lapseClaim(
  tx: Tx,
  task_id: string,
  now: number,
): Promise<StoredTaskRow | undefined> {
  return tx.get(lapse, { task_id, now });
}

const lapsed = prepare<{ now: number; limit: number }>()(
  db
    .selectFrom("tasks")
    .select("task_id")
    .where("status", "=", "claimed")
    .where("lease_until", "<=", p("now"))
    .limit(p("limit")),
);

/** Claimed tasks whose lease is over. */
export function lapsedTasks(read: Reader, now: number, limit: number) {
  return read.all(lapsed, { now, limit });
}

/** Another relay has the task until it expires, whatever its submitter asks for. */
const isWithPeer = sql<boolean>`claimed_by glob 'relay *'`;

/** From the first request on the holder has as long as a lease to agree or to show that it works. */
const leaseAfterRequest = sql<number>`case
  when cancel_requested_at is not null or ${isWithPeer} then lease_until
  else ${renewedLease} end`;

const request = prepare<{ task_id: string; now: number }>()(
  db
    .updateTable("tasks")
    .set({
      lease_until: leaseAfterRequest,
      cancel_requested_at: sql<number>`coalesce(cancel_requested_at, ${p("now")})`,
    })
    .where("task_id", "=", p("task_id"))
    .where("status", "=", "claimed")
    .where("expires_at", ">", p("now"))
    .returningAll(),
);

/** Notes that the submitter of a claimed task wants it cancelled; a second request changes nothing. */
export function requestCancel(
  tx: Tx,
  task_id: string,
  now: number,
): Promise<StoredTaskRow | undefined> {
  return tx.get(request, { task_id, now });
}

const cancelAtPeer = prepare<{ task_id: string; claimed_by: string; now: number }>()(
  db
    .updateTable("tasks")
    .set({ status: "cancelled", finished_at: p("now") })
    .where("task_id", "=", p("task_id"))
    .where("status", "=", "claimed")
    .where("claimed_by", "=", p("claimed_by"))
    .where("cancel_requested_at", "is not", null)
    .where("expires_at", ">", p("now"))
    .returningAll(),
);

/** Cancels a forwarded task: the peer that has it agreed to what its submitter had asked for. */
export function cancelForwarded(
  tx: Tx,
  agreed: { readonly task_id: string; readonly claimed_by: string; readonly now: number },
): Promise<TaskRow | undefined> {
  return tx.get(cancelAtPeer, agreed);
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
