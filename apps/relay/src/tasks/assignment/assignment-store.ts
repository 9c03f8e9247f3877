import { limits } from "@agent/wire";
import { queryBuilder, param, params, compile, sql } from "../../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { StoredTaskRow, TaskRow } from "../../storage/tables/tasks.ts";
import { taskIsOpen } from "../store.ts";

/**
 * Appends an event to a task; submission and end are read from its row. The number of events is
 * bounded, so that a row cannot grow without end.
 */
function appendEvent(type: string, detail = sql`'{}'`) {
  return sql<string>`case when json_array_length(events) < ${sql.lit(limits.taskEvents)} then
    json_insert(events, '$[#]', json_patch(
      json_object('type', ${sql.lit(type)}, 'at', cast(${param("now")} as integer)), ${detail}))
    else events end`;
}

const executor = sql<string>`coalesce(assigned_to, agent_id)`;

export interface ClaimRequest {
  readonly task_id: string;
  readonly executor: string;
  readonly claimed_by: string;
  readonly lease_until: number;
  readonly now: number;
}

const claimUpdate = compile<ClaimRequest>()(
  queryBuilder
    .updateTable("tasks")
    .set({
      ...params("claimed_by", "lease_until"),
      status: "claimed",
      claimed_at: param("now"),
      worked_at: param("now"),
      events: appendEvent("claimed"),
    })
    .where("task_id", "=", param("task_id"))
    .where("status", "=", "pending")
    .where("expires_at", ">", param("now"))
    .where(executor, "=", param("executor")),
);

/** Gives a pending task to one worker of its executor; the first claim wins. */
export async function claimPending(tx: Tx, request: ClaimRequest): Promise<boolean> {
  return (await tx.run(claimUpdate, request)) === 1;
}

/** One worker's claim of one task. */
export type HeldClaim = Pick<ClaimRequest, "task_id" | "claimed_by" | "now">;

/** A lease never extends beyond the submitter's `wall_clock_ms`, counted from the claim. */
const renewedLease = sql<number>`min(cast(${param("now")} as integer) + ${sql.lit(limits.claimLeaseMs)},
  coalesce(cast(claimed_at + wall_clock_ms as integer), ${sql.lit(Number.MAX_SAFE_INTEGER)}))`;

const heldClaimUpdate = queryBuilder
  .updateTable("tasks")
  .where("task_id", "=", param("task_id"))
  .where("status", "=", "claimed")
  .where("claimed_by", "=", param("claimed_by"));

const renewUpdate = compile<HeldClaim>()(
  heldClaimUpdate.set({
    lease_until: sql<number>`case when cancel_requested_at is null then ${renewedLease}
      else lease_until end`,
  }),
);

/**
 * Renews the lease for an open socket until the submitter requests a cancel; after that it stays as
 * it is. Returns false when the claim is no longer the worker's.
 */
export async function renewLease(tx: Tx, claimed: HeldClaim): Promise<boolean> {
  return (await tx.run(renewUpdate, claimed)) === 1;
}

/** The state of a claim that its holder needs. */
export interface Lease extends Pick<StoredTaskRow, "task_id" | "cancel_requested_at"> {
  readonly lease_until: number;
}

const workUpdate = heldClaimUpdate
  .set({ lease_until: renewedLease, worked_at: param("now") })
  .returning(["task_id", "cancel_requested_at", sql<number>`lease_until`.as("lease_until")]);

const renewWithoutNote = compile<HeldClaim>()(workUpdate);

const renewWithNote = compile<HeldClaim & { note: string }>()(
  workUpdate.set({ events: appendEvent("progress", sql`json_object('note', ${param("note")})`) }),
);

/**
 * Renews a claim after progress, with or without a note; undefined when it is not the worker's.
 */
export function renewLeaseByProgress(
  tx: Tx,
  { note, ...claimed }: HeldClaim & { readonly note?: string | undefined },
): Promise<Lease | undefined> {
  return note === undefined
    ? tx.get(renewWithoutNote, claimed)
    : tx.get(renewWithNote, { ...claimed, note });
}

const releaseUpdate = queryBuilder
  .updateTable("tasks")
  .set({
    status: "pending",
    claimed_by: null,
    lease_until: null,
    claimed_at: null,
    worked_at: null,
    events: appendEvent("released"),
  })
  .where("task_id", "=", param("task_id"))
  .where("status", "=", "claimed")
  .returningAll();

const releaseByHolder = compile<HeldClaim>()(
  releaseUpdate.where("claimed_by", "=", param("claimed_by")),
);

/** Releases a claim at its worker's request. Returns the task after the release. */
export function releaseClaim(tx: Tx, claimed: HeldClaim): Promise<StoredTaskRow | undefined> {
  return tx.get(releaseByHolder, claimed);
}

const expireUpdate = compile<Pick<ClaimRequest, "task_id" | "now">>()(
  releaseUpdate.where("lease_until", "<=", param("now")),
);

/**
 * Releases a task whose lease has ended, unless it was renewed meanwhile. Returns the task after
 * the release.
 */
export function expireClaim(
  tx: Tx,
  task_id: string,
  now: number,
): Promise<StoredTaskRow | undefined> {
  return tx.get(expireUpdate, { task_id, now });
}

const selectExpiredLeases = compile<{ now: number; limit: number }>()(
  queryBuilder
    .selectFrom("tasks")
    .select("task_id")
    .where("status", "=", "claimed")
    .where("lease_until", "<=", param("now"))
    .limit(param("limit")),
);

/** Lists claimed tasks whose lease has ended. */
export function listExpiredClaims(read: Reader, now: number, limit: number) {
  return read.all(selectExpiredLeases, { now, limit });
}

/** A peer has a forwarded task until it expires, even if a cancel is requested. */
const isClaimedByPeer = sql<boolean>`via_peer is not null`;

/** After the first request the holder has the length of a lease to agree or to report progress. */
const leaseAfterRequest = sql<number>`case
  when cancel_requested_at is not null or ${isClaimedByPeer} then lease_until
  else ${renewedLease} end`;

const cancelRequestUpdate = compile<{ task_id: string; now: number }>()(
  queryBuilder
    .updateTable("tasks")
    .set({
      lease_until: leaseAfterRequest,
      cancel_requested_at: sql<number>`coalesce(cancel_requested_at, ${param("now")})`,
    })
    .where("task_id", "=", param("task_id"))
    .where("status", "=", "claimed")
    .where("expires_at", ">", param("now"))
    .returningAll(),
);

/**
 * Records that the submitter of a claimed task wants it cancelled; a second request changes
 * nothing.
 */
export function markCancelRequested(
  tx: Tx,
  task_id: string,
  now: number,
): Promise<StoredTaskRow | undefined> {
  return tx.get(cancelRequestUpdate, { task_id, now });
}

const cancelForwardedUpdate = compile<{ task_id: string; claimed_by: string; now: number }>()(
  queryBuilder
    .updateTable("tasks")
    .set({ status: "cancelled", finished_at: param("now") })
    .where("task_id", "=", param("task_id"))
    .where("status", "=", "claimed")
    .where("claimed_by", "=", param("claimed_by"))
    .where("cancel_requested_at", "is not", null)
    .where("expires_at", ">", param("now"))
    .returningAll(),
);

/** Cancels a forwarded task after the peer that has it agreed to the request. */
export function cancelForwarded(
  tx: Tx,
  agreed: { readonly task_id: string; readonly claimed_by: string; readonly now: number },
): Promise<TaskRow | undefined> {
  return tx.get(cancelForwardedUpdate, agreed);
}

type Reassignment = Pick<TaskRow, "task_id" | "assigned_to" | "attempt" | "via_peer" | "charge"> & {
  readonly from_attempt: number;
  readonly now: number;
};

const reassign = compile<Reassignment>()(
  queryBuilder
    .updateTable("tasks")
    .set({
      ...params("assigned_to", "attempt", "via_peer", "charge"),
      events: appendEvent("reassigned", sql`json_object('assigned_to', ${param("assigned_to")})`),
    })
    .where("task_id", "=", param("task_id"))
    .where("attempt", "=", param("from_attempt"))
    .where("status", "=", "pending"),
);

/** Assigns a pending task to the next executor, unless it was claimed or reassigned meanwhile. */
export async function reassignTask(tx: Tx, change: Reassignment): Promise<boolean> {
  return (await tx.run(reassign, change)) === 1;
}

const pendingQuery = queryBuilder
  .selectFrom("tasks")
  .where(executor, "=", param("executor"))
  .where(taskIsOpen)
  .where("status", "=", "pending")
  .where("expires_at", ">", param("now"))
  .limit(param("limit"));

export interface PendingQuery {
  readonly executor: string;
  readonly now: number;
  readonly limit: number;
}

const selectPending = compile<PendingQuery & { after: string }>()(
  pendingQuery.selectAll().where("task_id", ">", param("after")).orderBy("task_id"),
);

/** Lists an executor's pending tasks, oldest first; `after` is a task id. */
export function listPendingTasks(
  read: Reader,
  query: PendingQuery & { after: string },
): Promise<TaskRow[]> {
  return read.all(selectPending, query);
}

const selectPendingIds = compile<PendingQuery>()(
  pendingQuery.select(["task_id", "required_capabilities"]).orderBy("task_id"),
);

/** Lists the same tasks without their prompts, which are large. */
export function listPendingTaskIds(read: Reader, query: PendingQuery) {
  return read.all(selectPendingIds, query);
}

const selectWaitingExecutors = compile<{ now: number }>()(
  queryBuilder
    .selectFrom("tasks")
    .select(executor.as("executor"))
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
