import { queryBuilder, param, compile, sql } from "../../storage/queries/compiled-query.ts";
import { inRowForm } from "../../storage/queries/row-form.ts";
import type { Tx } from "../../storage/storage.ts";
import { KEYED_TABLES } from "../../storage/tables/keyed-tables.ts";

const table = KEYED_TABLES.task_counters;

const increment = inRowForm(
  compile<{ scope: string; cap: number }>()(
    queryBuilder
      .updateTable("task_counters")
      .set({ live: sql`live + 1` })
      .where("scope", "=", param("scope"))
      .where("live", "<", param("cap")),
  ),
  {
    kind: "update",
    table,
    change: ({ live }, { cap }) => (Number(live) < cap ? { live: Number(live) + 1 } : undefined),
  },
);

const insertScope = inRowForm(
  compile<{ scope: string }>()(
    queryBuilder
      .insertInto("task_counters")
      .values({ scope: param("scope"), live: 0 })
      .onConflict((conflict) => conflict.doNothing()),
  ),
  { kind: "merge", table, rows: ({ scope }) => [{ scope, live: 0 }] },
);

/** Counts one more open task of a scope; false when the scope is full. */
export async function incrementOpenTasks(tx: Tx, scope: string, cap: number): Promise<boolean> {
  if ((await tx.run(increment, { scope, cap })) === 1) return true;
  if ((await tx.run(insertScope, { scope })) === 0) return false;
  return (await tx.run(increment, { scope, cap })) === 1;
}

const decrement = inRowForm(
  compile<{ scope: string }>()(
    queryBuilder
      .updateTable("task_counters")
      .set({ live: sql`live - 1` })
      .where("scope", "=", param("scope")),
  ),
  { kind: "update", table, change: ({ live }) => ({ live: Number(live) - 1 }) },
);

export async function decrementOpenTasks(tx: Tx, scope: string): Promise<void> {
  await tx.run(decrement, { scope });
}
