import { appendKeyBound, appendKeyEnded } from "../../log/entries/append.ts";
import {
  inBatches,
  queryBuilder,
  param,
  params,
  compile,
  sql,
} from "../../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { AgentKeyRow } from "../../storage/tables/agents.ts";

/** A key is valid until it is retired. */
export type NewKey = Omit<AgentKeyRow, "valid_until">;

const insertKeyQuery = compile<NewKey>()(
  queryBuilder
    .insertInto("agent_keys")
    .values({ ...params("agent_id", "public_key", "valid_from", "succession"), valid_until: null }),
);

export async function insertAgentKey(tx: Tx, key: NewKey, time: number): Promise<void> {
  await tx.run(insertKeyQuery, key);
  await appendKeyBound(tx, { ...key, device_id: null }, time);
}

const replaceDeviceKeysQuery = compile<{ agent_id: string; old_key: string; new_key: string }>()(
  queryBuilder
    .updateTable("devices")
    .set({ public_key: param("new_key") })
    .where("agent_id", "=", param("agent_id"))
    .where("public_key", "=", param("old_key")),
);

const endKeyQuery = compile<{ agent_id: string; public_key: string; now: number }>()(
  queryBuilder
    .updateTable("agent_keys")
    .set({ valid_until: param("now") })
    .where("agent_id", "=", param("agent_id"))
    .where("public_key", "=", param("public_key"))
    .where("valid_until", "is", null),
);

/** Retires an agent's key: from now on the new one signs, also on devices that used the old one. */
export async function replaceAgentKey(
  tx: Tx,
  change: {
    agent_id: string;
    old_key: string;
    new_key: string;
    now: number;
    succession: string;
  },
  time: number,
): Promise<void> {
  const { agent_id, old_key, new_key, now, succession } = change;
  await endOwnKey(tx, { agent_id, public_key: old_key, now }, time);
  const key = { agent_id, public_key: new_key, valid_from: now, succession };
  await insertAgentKey(tx, key, time);
  await tx.run(replaceDeviceKeysQuery, { agent_id, old_key, new_key });
}

/** Returns whether the key was the agent's own and in force. */
async function endOwnKey(
  tx: Tx,
  ended: { agent_id: string; public_key: string; now: number },
  time: number,
): Promise<boolean> {
  if ((await tx.run(endKeyQuery, ended)) === 0) return false;
  const { agent_id, public_key, now: valid_until } = ended;
  await appendKeyEnded(tx, { agent_id, public_key, device_id: null, valid_until }, time);
  return true;
}

const revokeDevicesOfKeyQuery = compile<{ agent_id: string; public_key: string; now: number }>()(
  queryBuilder
    .updateTable("devices")
    .set({ revoked_at: param("now") })
    .where("agent_id", "=", param("agent_id"))
    .where("public_key", "=", param("public_key"))
    .where("revoked_at", "is", null)
    .returning(["device_id", "public_key"]),
);

/** Retires one key of an agent, its own or a device's, without a successor. */
export async function endAgentKey(
  tx: Tx,
  ended: { agent_id: string; public_key: string; now: number },
): Promise<void> {
  const isOwnKey = await endOwnKey(tx, ended, ended.now);
  const devices = await tx.all(revokeDevicesOfKeyQuery, ended);
  if (!isOwnKey) await appendDevicesEnded(tx, ended, devices);
}

const endAllKeysQuery = compile<{ agent_id: string; now: number }>()(
  queryBuilder
    .updateTable("agent_keys")
    .set({ valid_until: param("now") })
    .where("agent_id", "=", param("agent_id"))
    .where("valid_until", "is", null)
    .returning("public_key"),
);

const revokeDevicesQuery = compile<{ agent_id: string; now: number }>()(
  queryBuilder
    .updateTable("devices")
    .set({ revoked_at: param("now") })
    .where("agent_id", "=", param("agent_id"))
    .where("revoked_at", "is", null)
    .returning(["device_id", "public_key"]),
);

/** Retires all keys of the agent, its own and its devices'. */
export async function endAllAgentKeys(tx: Tx, agent_id: string, now: number): Promise<void> {
  const ended = await tx.all(endAllKeysQuery, { agent_id, now });
  const own = new Set(ended.map(({ public_key }) => public_key));
  for (const public_key of own) {
    await appendKeyEnded(tx, { agent_id, public_key, device_id: null, valid_until: now }, now);
  }
  const devices = await tx.all(revokeDevicesQuery, { agent_id, now });
  const others = devices.filter(({ public_key }) => !own.has(public_key));
  await appendDevicesEnded(tx, { agent_id, now }, others);
}

/** A device that carries the key of its agent has no entries of its own. */
async function appendDevicesEnded(
  tx: Tx,
  { agent_id, now }: { readonly agent_id: string; readonly now: number },
  devices: readonly { readonly device_id: string; readonly public_key: string }[],
): Promise<void> {
  for (const device of devices) {
    await appendKeyEnded(tx, { ...device, agent_id, valid_until: now }, now);
  }
}

const keysByAgent = compile<{ agent_id: string }>()(
  queryBuilder
    .selectFrom("agent_keys")
    .selectAll()
    .where("agent_id", "=", param("agent_id"))
    .orderBy("valid_from"),
);

export function listAgentKeys(read: Reader, agent_id: string) {
  return read.all(keysByAgent, { agent_id });
}

const startOwnKeysQuery = compile<{ now: number; limit: number }>()(
  queryBuilder
    .updateTable("agent_keys")
    .set({ valid_from: param("now") })
    .where(
      sql<boolean>`(agent_id, public_key) in (
        select agent_id, public_key from agent_keys
        where valid_from > ${param("now")} and valid_until is null limit ${param("limit")})`,
    )
    .returning(["agent_id", "public_key"]),
);

/** Lets keys in force that would begin later begin now, at most `limit` of them, and returns them. */
export function startOwnKeysAt(tx: Tx, at: { now: number; limit: number }) {
  return tx.all(startOwnKeysQuery, at);
}

const startDeviceKeysQuery = compile<{ now: number; limit: number }>()(
  queryBuilder
    .updateTable("devices")
    .set({ registered_at: param("now") })
    .where(
      sql<boolean>`device_id in (
        select device_id from devices
        where registered_at > ${param("now")} and revoked_at is null limit ${param("limit")})`,
    )
    .returning(["agent_id", "device_id", "public_key"]),
);

/** Does the same for devices. */
export function startDeviceKeysAt(tx: Tx, at: { now: number; limit: number }) {
  return tx.all(startDeviceKeysQuery, at);
}

/** Finds a key that may sign for an agent: its own, while valid, or that of an active device. */
export interface SigningKeyRow {
  readonly public_key: string;
  readonly device_id: string | null;
  readonly valid_from: number;
  readonly valid_until: number | null;
}

const signingKeys = inBatches(
  compile<{ agent_id: string }>()(
    sql<SigningKeyRow>`
    select public_key, null as device_id, valid_from, valid_until from agent_keys
      where agent_id = ${param("agent_id")}
    union all
    select public_key, device_id, registered_at, null from devices
      where agent_id = ${param("agent_id")} and revoked_at is null`,
  ),
);

/** Returns an empty list for an agent that was never bootstrapped. */
export function listSigningKeys(read: Reader, agent_id: string): Promise<SigningKeyRow[]> {
  return read.all(signingKeys, { agent_id });
}
