import { queryBuilder, param, compile, sql } from "../../storage/queries/compiled-query.ts";
import type { Tx } from "../../storage/storage.ts";

const increment = compile<{ scope: string; cap: number }>()(
  queryBuilder
    .updateTable("task_counters")
    .set({ live: sql`live + 1` })
    .where("scope", "=", param("scope"))
    .where("live", "<", param("cap")),
);

const insertScope = compile<{ scope: string }>()(
  queryBuilder
    .insertInto("task_counters")
    .values({ scope: param("scope"), live: 0 })
    .onConflict((conflict) => conflict.doNothing()),
);

/** Counts one more open task of a scope; false when the scope is full. */
export async function incrementOpenTasks(tx: Tx, scope: string, cap: number): Promise<boolean> {
  if ((await tx.run(increment, { scope, cap })) === 1) return true;
  if ((await tx.run(insertScope, { scope })) === 0) return false;
  return (await tx.run(increment, { scope, cap })) === 1;
}

const decrement = compile<{ scope: string }>()(
  queryBuilder
    .updateTable("task_counters")
    .set({ live: sql`live - 1` })
    .where("scope", "=", param("scope")),
);

export async function decrementOpenTasks(tx: Tx, scope: string): Promise<void> {
  await tx.run(decrement, { scope });
}
