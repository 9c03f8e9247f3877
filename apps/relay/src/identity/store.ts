import { db, p, prepare } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { RelayIdentityRow, RelaySuccessionRow } from "../storage/tables/identity.ts";

const identity = prepare()(db.selectFrom("relay_identity").selectAll());

export function findIdentity(read: Reader): Promise<RelayIdentityRow | undefined> {
  return read.get(identity, {});
}

const addIdentity = prepare<RelayIdentityRow>()(
  db.insertInto("relay_identity").values({
    one: p("one"),
    relay_id: p("relay_id"),
    secret_key: p("secret_key"),
    created_at: p("created_at"),
  }),
);

export async function insertIdentity(tx: Tx, row: RelayIdentityRow): Promise<void> {
  await tx.run(addIdentity, row);
}

const changeSecretKey = prepare<{ secret_key: string }>()(
  db.updateTable("relay_identity").set({ secret_key: p("secret_key") }),
);

export async function replaceSecretKey(tx: Tx, secret_key: string): Promise<void> {
  await tx.run(changeSecretKey, { secret_key });
}

const successions = prepare()(db.selectFrom("relay_successions").selectAll().orderBy("position"));

/** The steps of the relay's key, oldest first. */
export function listSuccessions(read: Reader): Promise<RelaySuccessionRow[]> {
  return read.all(successions, {});
}

const addSuccession = prepare<RelaySuccessionRow>()(
  db.insertInto("relay_successions").values({ position: p("position"), record: p("record") }),
);

export async function insertSuccession(tx: Tx, row: RelaySuccessionRow): Promise<void> {
  await tx.run(addSuccession, row);
}
