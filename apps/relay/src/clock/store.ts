import { queryBuilder, param, params, compile } from "../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../storage/storage.ts";

const storedTime = compile()(queryBuilder.selectFrom("clock").select("at"));

/** The time that was stored last; undefined in a database that no relay has run on. */
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
