import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { AgentKeyRow } from "../storage/tables/agents.ts";

/** A key is valid until it is ended. */
export type NewKey = Omit<AgentKeyRow, "valid_until">;

const addKey = prepare<NewKey>()(
  db.insertInto("agent_keys").values({
    agent_id: p("agent_id"),
    public_key: p("public_key"),
    valid_from: p("valid_from"),
    valid_until: null,
    succession: p("succession"),
  }),
);

export async function insertKey(tx: Tx, key: NewKey): Promise<void> {
  await tx.run(addKey, key);
}

const rekeyDevices = prepare<{ agent_id: string; old_key: string; new_key: string }>()(
  db
    .updateTable("devices")
    .set({ public_key: p("new_key") })
    .where("agent_id", "=", p("agent_id"))
    .where("public_key", "=", p("old_key")),
);

const endKey = prepare<{ agent_id: string; public_key: string; now: number }>()(
  db
    .updateTable("agent_keys")
    .set({ valid_until: p("now") })
    .where("agent_id", "=", p("agent_id"))
    .where("public_key", "=", p("public_key"))
    .where("valid_until", "is", null),
);

/** Ends an agent's key: from now on the new one signs, also on the devices that carried the old one. */
export async function replaceKey(
  tx: Tx,
  change: {
    agent_id: string;
    old_key: string;
    new_key: string;
    now: number;
    succession: string;
  },
): Promise<void> {
  const { agent_id, old_key, new_key, now, succession } = change;
  await tx.run(endKey, { agent_id, public_key: old_key, now });
  await tx.run(addKey, { agent_id, public_key: new_key, valid_from: now, succession });
  await tx.run(rekeyDevices, { agent_id, old_key, new_key });
}

const revokeDevicesOfKey = prepare<{ agent_id: string; public_key: string; now: number }>()(
  db
    .updateTable("devices")
    .set({ revoked_at: p("now") })
    .where("agent_id", "=", p("agent_id"))
    .where("public_key", "=", p("public_key"))
    .where("revoked_at", "is", null),
);

/** Ends one key of an agent, its own or a device's, without one in its place. */
export async function endKeyOf(
  tx: Tx,
  ended: { agent_id: string; public_key: string; now: number },
): Promise<void> {
  await tx.run(endKey, ended);
  await tx.run(revokeDevicesOfKey, ended);
}

const endKeys = prepare<{ agent_id: string; now: number }>()(
  db
    .updateTable("agent_keys")
    .set({ valid_until: p("now") })
    .where("agent_id", "=", p("agent_id"))
    .where("valid_until", "is", null),
);

const revokeDevices = prepare<{ agent_id: string; now: number }>()(
  db
    .updateTable("devices")
    .set({ revoked_at: p("now") })
    .where("agent_id", "=", p("agent_id"))
    .where("revoked_at", "is", null),
);

/** From now on no key signs for the agent, neither its own nor a device's. */
export async function endAllKeys(tx: Tx, agent_id: string, now: number): Promise<void> {
  await tx.run(endKeys, { agent_id, now });
  await tx.run(revokeDevices, { agent_id, now });
}

const keysByAgent = prepare<{ agent_id: string }>()(
  db
    .selectFrom("agent_keys")
    .selectAll()
    .where("agent_id", "=", p("agent_id"))
    .orderBy("valid_from"),
);

export function keysOf(read: Reader, agent_id: string) {
  return read.all(keysByAgent, { agent_id });
}

/** A key that may sign for an agent: its own, while it was valid, or that of a device in use. */
export interface SigningKeyRow {
  readonly public_key: string;
  readonly device_id: string | null;
  readonly valid_from: number;
  readonly valid_until: number | null;
}

const signingKeys = prepare<{ agent_id: string }>()(
  sql<SigningKeyRow>`
    select public_key, null as device_id, valid_from, valid_until from agent_keys
      where agent_id = ${p("agent_id")}
    union all
    select public_key, device_id, registered_at, null from devices
      where agent_id = ${p("agent_id")} and revoked_at is null`,
);

/** Empty for an agent that was never bootstrapped. */
export function signingKeysOf(read: Reader, agent_id: string): Promise<SigningKeyRow[]> {
  return read.all(signingKeys, { agent_id });
}
