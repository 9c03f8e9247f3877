import { queryBuilder, params, compile } from "../storage/queries/compiled-query.ts";
import { inRowForm } from "../storage/queries/row-form.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { FreezeRow } from "../storage/tables/admin.ts";

const freezeRow = inRowForm(compile()(queryBuilder.selectFrom("freeze").selectAll()), {
  kind: "read",
  tables: ["freeze"],
});

export function findFreeze(read: Reader): Promise<FreezeRow | undefined> {
  return read.get(freezeRow, {});
}

type NewFreeze = Pick<FreezeRow, "since" | "reason" | "frozen_by">;

const insertFreezeQuery = compile<NewFreeze>()(
  queryBuilder
    .insertInto("freeze")
    .values({ ...params("since", "reason", "frozen_by"), one: 1, restored: 0 })
    .onConflict((conflict) => conflict.doNothing()),
);

/** Stores that the relay is frozen; false if it already is, because the first freeze is not replaced. */
export async function insertFreeze(tx: Tx, row: NewFreeze): Promise<boolean> {
  return (await tx.run(insertFreezeQuery, row)) === 1;
}

const deleteFreezeQuery = compile()(queryBuilder.deleteFrom("freeze").returningAll());

export function deleteFreeze(tx: Tx): Promise<FreezeRow | undefined> {
  return tx.get(deleteFreezeQuery, {});
}
