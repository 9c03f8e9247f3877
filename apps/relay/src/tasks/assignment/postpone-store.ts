import { queryBuilder, param, compile, sql } from "../../storage/queries/compiled-query.ts";
import type { Tx } from "../../storage/storage.ts";
import { taskIsOpen } from "../store.ts";

const postponeUpdate = compile<{ ms: number }>()(
  queryBuilder
    .updateTable("tasks")
    .set({
      expires_at: sql`expires_at + cast(${param("ms")} as integer)`,
      lease_until: sql`lease_until + cast(${param("ms")} as integer)`,
      claimed_at: sql`claimed_at + cast(${param("ms")} as integer)`,
      worked_at: sql`worked_at + cast(${param("ms")} as integer)`,
      cancel_requested_at: sql`cancel_requested_at + cast(${param("ms")} as integer)`,
    })
    .where(taskIsOpen),
);

const clearClaimTimes = compile()(
  queryBuilder
    .updateTable("tasks")
    .set({ claimed_at: null })
    .where("status", "=", "claimed")
    .where("via_peer", "is not", null),
);

/**
 * Has nothing follow from how long peers have had their tasks: after a restore their results may be
 * among what the backup lacks, and they bring none that was taken.
 */
export async function clearPeerClaimTimes(tx: Tx): Promise<void> {
  await tx.run(clearClaimTimes, {});
}

/** Gives every open task, and every claim, the time that the relay stood still. */
export async function postponeOpenTasks(tx: Tx, ms: number): Promise<void> {
  await tx.run(postponeUpdate, { ms });
}
