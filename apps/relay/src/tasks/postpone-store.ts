import { PEER_CLAIM_PATTERN } from "../federation/parties.ts";
import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Tx } from "../storage/storage.ts";
import { open } from "./store.ts";

const postpone = prepare<{ ms: number }>()(
  db
    .updateTable("tasks")
    .set({
      expires_at: sql`expires_at + cast(${p("ms")} as integer)`,
      lease_until: sql`lease_until + cast(${p("ms")} as integer)`,
      claimed_at: sql`claimed_at + cast(${p("ms")} as integer)`,
      worked_at: sql`worked_at + cast(${p("ms")} as integer)`,
      cancel_requested_at: sql`cancel_requested_at + cast(${p("ms")} as integer)`,
    })
    .where(open),
);

const forget = prepare()(
  db
    .updateTable("tasks")
    .set({ claimed_at: null })
    .where("status", "=", "claimed")
    .where(sql<boolean>`claimed_by glob ${sql.lit(PEER_CLAIM_PATTERN)}`),
);

/**
 * Has nothing follow from how long peers have had their tasks: after a restore their results may be
 * among what the backup lacks, and they bring none that was taken.
 */
export async function forgetClaimsOfPeers(tx: Tx): Promise<void> {
  await tx.run(forget, {});
}

/** Gives every open task, and every claim, the time that the relay stood still. */
export async function postponeOpenTasks(tx: Tx, ms: number): Promise<void> {
  await tx.run(postpone, { ms });
}
