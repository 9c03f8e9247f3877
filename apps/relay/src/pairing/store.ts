import { queryBuilder, param, params, compile, sql } from "../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { PairingRow } from "../storage/tables/pairing.ts";

const insertPairingQuery = compile<PairingRow>()(
  queryBuilder
    .insertInto("pairings")
    .values(
      params(
        "pairing_id",
        "agent_id",
        "code",
        "status",
        "device_name",
        "public_key",
        "device_id",
        "expires_at",
      ),
    )
    .onConflict((conflict) => conflict.column("code").doNothing()),
);

/** Returns false when the code belongs to another session. */
export async function insertPairing(tx: Tx, pairing: PairingRow): Promise<boolean> {
  return (await tx.run(insertPairingQuery, pairing)) === 1;
}

const pairingById = compile<{ pairing_id: string }>()(
  queryBuilder.selectFrom("pairings").selectAll().where("pairing_id", "=", param("pairing_id")),
);

export function findPairing(read: Reader, pairing_id: string): Promise<PairingRow | undefined> {
  return read.get(pairingById, { pairing_id });
}

const pairingByCode = compile<{ code: string }>()(
  queryBuilder.selectFrom("pairings").selectAll().where("code", "=", param("code")),
);

export function findPairingByCode(read: Reader, code: string): Promise<PairingRow | undefined> {
  return read.get(pairingByCode, { code });
}

const claimPairingQuery = compile<{
  pairing_id: string;
  device_name: string;
  public_key: string;
}>()(
  queryBuilder
    .updateTable("pairings")
    .set({ ...params("device_name", "public_key"), status: "claimed" })
    .where("pairing_id", "=", param("pairing_id"))
    .where("status", "=", "pending"),
);

/** Returns false when another device has claimed it. */
export async function markPairingClaimed(
  tx: Tx,
  claimed: { pairing_id: string; device_name: string; public_key: string },
): Promise<boolean> {
  return (await tx.run(claimPairingQuery, claimed)) === 1;
}

const resolvePairingQuery = compile<Pick<PairingRow, "pairing_id" | "status" | "device_id">>()(
  queryBuilder
    .updateTable("pairings")
    .set(params("status", "device_id"))
    .where("pairing_id", "=", param("pairing_id")),
);

export async function markPairingResolved(
  tx: Tx,
  resolved: Pick<PairingRow, "pairing_id" | "status" | "device_id">,
): Promise<void> {
  await tx.run(resolvePairingQuery, resolved);
}

const deleteExpiredQuery = compile<{ until: number; limit: number }>()(
  sql<never>`
    delete from pairings where pairing_id in (
      select pairing_id from pairings where expires_at <= ${param("until")} limit ${param("limit")})`,
);

export function deleteExpiredPairings(
  tx: Tx,
  old: { until: number; limit: number },
): Promise<number> {
  return tx.run(deleteExpiredQuery, old);
}
