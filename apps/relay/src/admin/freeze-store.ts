import { db, p, prepare } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { FreezeRow, IncarnationRow } from "../storage/tables/admin.ts";

const current = prepare()(db.selectFrom("freeze").selectAll());

export function findFreeze(read: Reader): Promise<FreezeRow | undefined> {
  return read.get(current, {});
}

const begin = prepare<Pick<FreezeRow, "since" | "reason">>()(
  db
    .insertInto("freeze")
    .values({ one: 1, since: p("since"), reason: p("reason"), restored: 0 })
    .onConflict((conflict) => conflict.doNothing()),
);

/** Notes that the relay stands still; what it was frozen with first stays. */
export async function insertFreeze(
  tx: Tx,
  row: Pick<FreezeRow, "since" | "reason">,
): Promise<void> {
  await tx.run(begin, row);
}

const end = prepare()(db.deleteFrom("freeze").returningAll());

export function removeFreeze(tx: Tx): Promise<FreezeRow | undefined> {
  return tx.get(end, {});
}

const life = prepare()(db.selectFrom("incarnation").selectAll());

/** Which life of the relay this database is; 0 when it was never restored from a backup. */
export async function findIncarnation(read: Reader): Promise<IncarnationRow["number"]> {
  return (await read.get(life, {}))?.number ?? 0;
}
