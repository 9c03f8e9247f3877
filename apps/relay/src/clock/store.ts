import { db, p, prepare } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";

const stored = prepare()(db.selectFrom("clock").select("at"));

/** The time that was stored last; undefined in a database that no relay has run on. */
export async function findStoredTime(read: Reader): Promise<number | undefined> {
  return (await read.get(stored, {}))?.at;
}

const store = prepare<{ at: number }>()(
  db
    .insertInto("clock")
    .values({ one: 1, at: p("at") })
    .onConflict((conflict) => conflict.column("one").doUpdateSet({ at: p("at") })),
);

export async function putTime(tx: Tx, at: number): Promise<void> {
  await tx.run(store, { at });
}
