import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Tx } from "../storage/storage.ts";

const takePlace = prepare<{ scope: string; cap: number }>()(
  db
    .updateTable("task_counters")
    .set({ live: sql`live + 1` })
    .where("scope", "=", p("scope"))
    .where("live", "<", p("cap")),
);

const openScope = prepare<{ scope: string }>()(
  db
    .insertInto("task_counters")
    .values({ scope: p("scope"), live: 0 })
    .onConflict((conflict) => conflict.doNothing()),
);

/** Counts one more open task of a scope; false when the scope is full. */
export async function takeTaskPlace(tx: Tx, scope: string, cap: number): Promise<boolean> {
  if ((await tx.run(takePlace, { scope, cap })) === 1) return true;
  if ((await tx.run(openScope, { scope })) === 0) return false;
  return (await tx.run(takePlace, { scope, cap })) === 1;
}

const leavePlace = prepare<{ scope: string }>()(
  db
    .updateTable("task_counters")
    .set({ live: sql`live - 1` })
    .where("scope", "=", p("scope")),
);

export async function leaveTaskPlace(tx: Tx, scope: string): Promise<void> {
  await tx.run(leavePlace, { scope });
}
