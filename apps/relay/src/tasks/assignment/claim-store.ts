import { limits } from "@agent/wire";
import { queryBuilder, param, params, compile, sql } from "../../storage/queries/compiled-query.ts";
import { lowerWhole, smallerOf } from "../../storage/queries/fragments.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import { TASK_COLUMNS, type StoredTaskRow, type TaskRow } from "../../storage/tables/tasks.ts";
import { recordTaskEvent } from "../events/record-task-event.ts";
import { BLOCKED } from "../../trust/levels.ts";
import { firstClaimedAt, insertTaskEvent, nextEventCount } from "../events/event-store.ts";
import { rerouteAfter, taskExecutor } from "../store.ts";

export interface ClaimRequest {
  readonly task_id: string;
  readonly executor: string;
  readonly claimed_by: string;
  readonly lease_until: number;
  readonly now: number;
}

/** The stored block decides, because another process may have stored it. */
const isNotBlocked = sql<boolean>`not exists (
  select 1 from trust_records as block where block.agent_id = submitted_by
    and block.remote_agent_id = ${param("executor")} and block.trust_level = ${sql.lit(BLOCKED)})`;

const claimUpdate = compile<ClaimRequest>()(
  queryBuilder
    .updateTable("tasks")
    .set({
      ...params("claimed_by", "lease_until"),
      status: "claimed",
      claimed_at: param("now"),
      worked_at: param("now"),
      event_count: nextEventCount,
      first_claimed_at: firstClaimedAt,
    })
    .where("task_id", "=", param("task_id"))
    .where("status", "=", "pending")
    .where("expires_at", ">", param("now"))
    .where(taskExecutor, "=", param("executor"))
    .where(isNotBlocked)
    .returning(["task_id", "event_count", "agent_id", "assigned_to", "submitted_by"]),
);

/**
 * Gives a pending task to one device, the endpoint or the relay of its executor, unless its submitter has blocked
 * the executor; the first claim wins.
 */
export async function claimPending(tx: Tx, request: ClaimRequest): Promise<boolean> {
  const claimed = await tx.get(claimUpdate, request);
  if (claimed === undefined) return false;
  // The first event of a task is a column, so that a usual claim costs one statement.
  if (claimed.event_count > 1) {
    await insertTaskEvent(tx, claimed, { type: "claimed", at: request.now });
  }
  await recordTaskEvent(tx, claimed, { type: "claimed", at: request.now });
  return true;
}

/** One device's claim of one task. */
export type HeldClaim = Pick<ClaimRequest, "task_id" | "claimed_by" | "now">;

const maxTime = sql.lit(Number.MAX_SAFE_INTEGER);

/** A lease never extends beyond the submitter's `wall_clock_ms`, counted from the claim. */
const renewedLease = smallerOf(
  sql`cast(${param("now")} as bigint) + ${sql.lit(limits.claimLeaseMs)}`,
  sql`coalesce(${lowerWhole(smallerOf(sql`claimed_at + wall_clock_ms`, maxTime))}, ${maxTime})`,
);

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
 * Renews the lease for an open socket until the submitter requests a cancellation; after that it is not
 * extended. Returns false if the claim no longer belongs to the claimant.
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

const noteBytesAfter = sql<number>`note_bytes + cast(${param("size")} as bigint)`;

const renewWithNote = compile<HeldClaim & { size: number }>()(
  workUpdate
    .set({ event_count: sql`event_count + 1`, note_bytes: noteBytesAfter })
    .where("event_count", "<", limits.taskEvents)
    .where(noteBytesAfter, "<=", limits.taskNoteBytes)
    .returning("event_count"),
);

/**
 * Renews a claim after progress, with or without a note; undefined when it is not the claimant's. A note
 * beyond the limits of its task is dropped.
 */
export async function renewLeaseByProgress(
  tx: Tx,
  { note, ...claimed }: HeldClaim & { readonly note?: string | undefined },
): Promise<Lease | undefined> {
  if (note !== undefined) {
    const noted = await tx.get(renewWithNote, { ...claimed, size: Buffer.byteLength(note) });
    if (noted !== undefined) {
      await insertTaskEvent(tx, noted, { type: "progress", at: claimed.now, note });
      return noted;
    }
  }
  return tx.get(renewWithoutNote, claimed);
}

const releaseUpdate = queryBuilder
  .updateTable("tasks")
  .set({
    status: "pending",
    claimed_by: null,
    lease_until: null,
    claimed_at: null,
    worked_at: null,
    event_count: nextEventCount,
    bring_at: rerouteAfter("now"),
  })
  .where("task_id", "=", param("task_id"))
  .where("status", "=", "claimed")
  .returning(TASK_COLUMNS);

const releaseByHolder = compile<HeldClaim>()(
  releaseUpdate.where("claimed_by", "=", param("claimed_by")),
);

/** Releases a claim at its claimant's request. Returns the task after the release. */
export async function releaseClaim(tx: Tx, claimed: HeldClaim): Promise<StoredTaskRow | undefined> {
  return recordRelease(tx, await tx.get(releaseByHolder, claimed), claimed.now);
}

async function recordRelease(
  tx: Tx,
  released: StoredTaskRow | undefined,
  now: number,
): Promise<StoredTaskRow | undefined> {
  if (released === undefined) return undefined;
  await insertTaskEvent(tx, released, { type: "released", at: now });
  await recordTaskEvent(tx, released, { type: "released", at: now });
  return released;
}

const expireUpdate = compile<{ task_id: string; now: number }>()(
  releaseUpdate.where("lease_until", "<=", param("now")),
);

/**
 * Releases a task whose lease has ended, unless it was renewed in the meantime. Returns the task after the
 * release.
 */
export async function expireClaim(
  tx: Tx,
  task_id: string,
  now: number,
): Promise<StoredTaskRow | undefined> {
  return recordRelease(tx, await tx.get(expireUpdate, { task_id, now }), now);
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
    .returning(TASK_COLUMNS),
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
    .where("expires_at", ">", param("now"))
    .returning(TASK_COLUMNS),
);

/** Cancels a forwarded task after its peer agreed to the request, or stated that it ended there. */
export function cancelForwarded(
  tx: Tx,
  agreed: { readonly task_id: string; readonly claimed_by: string; readonly now: number },
): Promise<TaskRow | undefined> {
  return tx.get(cancelForwardedUpdate, agreed);
}
