import { queryBuilder, param, params, compile } from "../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../storage/storage.ts";

const storedTime = compile()(queryBuilder.selectFrom("clock").select("at"));

/** Returns the last stored time; undefined in a new database. */
export async function findStoredTime(read: Reader): Promise<number | undefined> {
  return (await read.get(storedTime, {}))?.at;
}

const saveTimeQuery = compile<{ at: number }>()(
  queryBuilder
    .insertInto("clock")
    .values({ one: 1, at: param("at") })
    .onConflict((conflict) => conflict.column("one").doUpdateSet(params("at"))),
);

export async function saveTime(tx: Tx, at: number): Promise<void> {
  await tx.run(saveTimeQuery, { at });
}
