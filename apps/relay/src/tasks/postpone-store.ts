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

/** Gives every open task, and every claim, the time that the relay stood still. */
export async function postponeOpenTasks(tx: Tx, ms: number): Promise<void> {
  await tx.run(postpone, { ms });
}
