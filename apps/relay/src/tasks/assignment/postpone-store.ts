import { queryBuilder, param, compile, sql } from "../../storage/queries/compiled-query.ts";
import type { Tx } from "../../storage/storage.ts";
import { taskIsOpen } from "../store.ts";

const postponeUpdate = compile<{ ms: number }>()(
  queryBuilder
    .updateTable("tasks")
    .set({
      expires_at: sql`expires_at + cast(${param("ms")} as bigint)`,
      lease_until: sql`lease_until + cast(${param("ms")} as bigint)`,
      claimed_at: sql`claimed_at + cast(${param("ms")} as bigint)`,
      worked_at: sql`worked_at + cast(${param("ms")} as bigint)`,
      cancel_requested_at: sql`cancel_requested_at + cast(${param("ms")} as bigint)`,
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
 * Clears the claim times of peers after a restore, so that no no-show follows from them: the backup
 * may lack results that peers returned and will not return again.
 */
export async function clearPeerClaimTimes(tx: Tx): Promise<void> {
  await tx.run(clearClaimTimes, {});
}

/** Extends every open task and every claim by the time for which the relay was interrupted. */
export async function postponeOpenTasks(tx: Tx, ms: number): Promise<void> {
  await tx.run(postponeUpdate, { ms });
}
