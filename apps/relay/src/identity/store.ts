import { queryBuilder, params, compile } from "../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { RelayIdentityRow, RelaySuccessionRow } from "../storage/tables/identity.ts";

const identityRow = compile()(queryBuilder.selectFrom("relay_identity").selectAll());

export function findIdentity(read: Reader): Promise<RelayIdentityRow | undefined> {
  return read.get(identityRow, {});
}

const insertIdentityQuery = compile<Omit<RelayIdentityRow, "scrub_pending">>()(
  queryBuilder
    .insertInto("relay_identity")
    .values({ ...params("one", "relay_id", "secret_key", "created_at"), scrub_pending: 0 })
    .onConflict((conflict) => conflict.doNothing()),
);

/** Stores the identity of a new relay, unless another process has just stored one. */
export async function insertIdentity(
  tx: Tx,
  row: Omit<RelayIdentityRow, "scrub_pending">,
): Promise<void> {
  await tx.run(insertIdentityQuery, row);
}

const updateSecretKeyQuery = compile<{ secret_key: string }>()(
  queryBuilder.updateTable("relay_identity").set({ ...params("secret_key"), scrub_pending: 1 }),
);

/** Replaces the key; the earlier one stays readable in the files until they are scrubbed. */
export async function updateSecretKey(tx: Tx, secret_key: string): Promise<void> {
  await tx.run(updateSecretKeyQuery, { secret_key });
}

const setScrubPending = compile<{ scrub_pending: 0 | 1 }>()(
  queryBuilder.updateTable("relay_identity").set(params("scrub_pending")),
);

/** Records whether replaced data may still be readable in the files. */
export async function saveScrubPending(tx: Tx, isPending: boolean): Promise<void> {
  await tx.run(setScrubPending, { scrub_pending: isPending ? 1 : 0 });
}

const successionsInOrder = compile()(
  queryBuilder.selectFrom("relay_successions").selectAll().orderBy("position"),
);

/** Lists the succession steps of the relay's key, oldest first. */
export function listSuccessions(read: Reader): Promise<RelaySuccessionRow[]> {
  return read.all(successionsInOrder, {});
}

const insertSuccessionQuery = compile<RelaySuccessionRow>()(
  queryBuilder.insertInto("relay_successions").values(params("position", "record")),
);

export async function insertSuccession(tx: Tx, row: RelaySuccessionRow): Promise<void> {
  await tx.run(insertSuccessionQuery, row);
}
