import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { PairingRow } from "../storage/tables/pairing.ts";

const addPairing = prepare<PairingRow>()(
  db
    .insertInto("pairings")
    .values({
      pairing_id: p("pairing_id"),
      agent_id: p("agent_id"),
      code: p("code"),
      status: p("status"),
      device_name: p("device_name"),
      public_key: p("public_key"),
      device_id: p("device_id"),
      expires_at: p("expires_at"),
    })
    .onConflict((conflict) => conflict.column("code").doNothing()),
);

/** False when the code is another session's. */
export async function insertPairing(tx: Tx, pairing: PairingRow): Promise<boolean> {
  return (await tx.run(addPairing, pairing)) === 1;
}

const pairingById = prepare<{ pairing_id: string }>()(
  db.selectFrom("pairings").selectAll().where("pairing_id", "=", p("pairing_id")),
);

export function findPairing(read: Reader, pairing_id: string): Promise<PairingRow | undefined> {
  return read.get(pairingById, { pairing_id });
}

const pairingByCode = prepare<{ code: string }>()(
  db.selectFrom("pairings").selectAll().where("code", "=", p("code")),
);

export function findPairingByCode(read: Reader, code: string): Promise<PairingRow | undefined> {
  return read.get(pairingByCode, { code });
}

const claim = prepare<{ pairing_id: string; device_name: string; public_key: string }>()(
  db
    .updateTable("pairings")
    .set({ status: "claimed", device_name: p("device_name"), public_key: p("public_key") })
    .where("pairing_id", "=", p("pairing_id"))
    .where("status", "=", "pending"),
);

/** False when somebody else has claimed it. */
export async function markClaimed(
  tx: Tx,
  claimed: { pairing_id: string; device_name: string; public_key: string },
): Promise<boolean> {
  return (await tx.run(claim, claimed)) === 1;
}

const resolve = prepare<Pick<PairingRow, "pairing_id" | "status" | "device_id">>()(
  db
    .updateTable("pairings")
    .set({ status: p("status"), device_id: p("device_id") })
    .where("pairing_id", "=", p("pairing_id")),
);

export async function markResolved(
  tx: Tx,
  resolved: Pick<PairingRow, "pairing_id" | "status" | "device_id">,
): Promise<void> {
  await tx.run(resolve, resolved);
}

const forget = prepare<{ until: number; limit: number }>()(
  sql<never>`
    delete from pairings where pairing_id in (
      select pairing_id from pairings where expires_at <= ${p("until")} limit ${p("limit")})`,
);

export function forgetPairings(tx: Tx, old: { until: number; limit: number }): Promise<number> {
  return tx.run(forget, old);
}
