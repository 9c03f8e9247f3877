import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { AgentRow, DeviceRow } from "../storage/tables/agents.ts";

const agentById = prepare<{ agent_id: string }>()(
  db.selectFrom("agents").selectAll().where("agent_id", "=", p("agent_id")),
);

export function findAgent(read: Reader, agent_id: string): Promise<AgentRow | undefined> {
  return read.get(agentById, { agent_id });
}

const addAgent = prepare<AgentRow>()(
  db.insertInto("agents").values({
    agent_id: p("agent_id"),
    public_key: p("public_key"),
    endpoint_url: p("endpoint_url"),
    capabilities: p("capabilities"),
    metadata: p("metadata"),
    federation_visible: p("federation_visible"),
    registered: p("registered"),
    created_at: p("created_at"),
    last_seen_at: p("last_seen_at"),
    revoked_at: p("revoked_at"),
  }),
);

const changeAgent = prepare<AgentRow>()(
  db
    .updateTable("agents")
    .set({
      public_key: p("public_key"),
      endpoint_url: p("endpoint_url"),
      capabilities: p("capabilities"),
      metadata: p("metadata"),
      federation_visible: p("federation_visible"),
      registered: p("registered"),
      last_seen_at: p("last_seen_at"),
      revoked_at: p("revoked_at"),
    })
    .where("agent_id", "=", p("agent_id")),
);

/** Writes an agent's row, whether it is new or known. */
export async function putAgent(tx: Tx, agent: AgentRow): Promise<void> {
  if ((await tx.run(changeAgent, agent)) === 0) await tx.run(addAgent, agent);
}

/** Freshness is told in minutes, so a sign of life within seconds of the last one is not written. */
const touchEveryMs = 30_000;

const markSeen = prepare<{ agent_id: string; now: number; stale: number }>()(
  db
    .updateTable("agents")
    .set({ last_seen_at: p("now") })
    .where("agent_id", "=", p("agent_id"))
    .where("last_seen_at", "<=", p("stale")),
);

export async function touchAgent(tx: Tx, agent_id: string, now: number): Promise<void> {
  await tx.run(markSeen, { agent_id, now, stale: now - touchEveryMs });
}

const deviceById = prepare<{ device_id: string }>()(
  db.selectFrom("devices").selectAll().where("device_id", "=", p("device_id")),
);

export function findDevice(read: Reader, device_id: string): Promise<DeviceRow | undefined> {
  return read.get(deviceById, { device_id });
}

const devicesByAgent = prepare<{ agent_id: string }>()(
  db
    .selectFrom("devices")
    .selectAll()
    .where("agent_id", "=", p("agent_id"))
    .orderBy("registered_at")
    .orderBy("device_id"),
);

export function devicesOf(read: Reader, agent_id: string): Promise<DeviceRow[]> {
  return read.all(devicesByAgent, { agent_id });
}

const devicesAfter = prepare<{ agent_id: string; after: string; limit: number }>()(
  db
    .selectFrom("devices")
    .selectAll()
    .where("agent_id", "=", p("agent_id"))
    .where("device_id", ">", p("after"))
    .orderBy("device_id")
    .limit(p("limit")),
);

/** By id, and so by time. */
export function devicePage(
  read: Reader,
  query: { agent_id: string; after: string; limit: number },
): Promise<DeviceRow[]> {
  return read.all(devicesAfter, query);
}

const revokeDevice = prepare<{ device_id: string; now: number }>()(
  db
    .updateTable("devices")
    .set({ revoked_at: p("now") })
    .where("device_id", "=", p("device_id"))
    .where("revoked_at", "is", null),
);

/** False when it was revoked before: the first time counts. */
export async function markDeviceRevoked(tx: Tx, device_id: string, now: number): Promise<boolean> {
  return (await tx.run(revokeDevice, { device_id, now })) === 1;
}

const addDevice = prepare<DeviceRow>()(
  db.insertInto("devices").values({
    device_id: p("device_id"),
    agent_id: p("agent_id"),
    public_key: p("public_key"),
    device_name: p("device_name"),
    scopes: p("scopes"),
    registered_at: p("registered_at"),
    revoked_at: p("revoked_at"),
  }),
);

export async function insertDevice(tx: Tx, device: DeviceRow): Promise<void> {
  await tx.run(addDevice, device);
}

const rekeyDevices = prepare<{ agent_id: string; old_key: string; new_key: string }>()(
  db
    .updateTable("devices")
    .set({ public_key: p("new_key") })
    .where("agent_id", "=", p("agent_id"))
    .where("public_key", "=", p("old_key")),
);

const dropCapabilities = prepare<{ agent_id: string }>()(
  db.deleteFrom("agent_capabilities").where("agent_id", "=", p("agent_id")),
);

const addCapability = prepare<{ agent_id: string; capability: string }>()(
  db
    .insertInto("agent_capabilities")
    .values({ capability: p("capability"), agent_id: p("agent_id") }),
);

/** Replaces the capabilities by which an agent is found. */
export async function indexCapabilities(
  tx: Tx,
  agent_id: string,
  capabilities: Iterable<string>,
): Promise<void> {
  await tx.run(dropCapabilities, { agent_id });
  for (const capability of new Set(capabilities)) {
    await tx.run(addCapability, { agent_id, capability });
  }
}

const addKey = prepare<{
  agent_id: string;
  public_key: string;
  valid_from: number;
  succession: string | null;
}>()(
  db.insertInto("agent_keys").values({
    agent_id: p("agent_id"),
    public_key: p("public_key"),
    valid_from: p("valid_from"),
    valid_until: null,
    succession: p("succession"),
  }),
);

export async function insertKey(
  tx: Tx,
  key: { agent_id: string; public_key: string; valid_from: number; succession: string | null },
): Promise<void> {
  await tx.run(addKey, key);
}

const endKey = prepare<{ agent_id: string; public_key: string; now: number }>()(
  db
    .updateTable("agent_keys")
    .set({ valid_until: p("now") })
    .where("agent_id", "=", p("agent_id"))
    .where("public_key", "=", p("public_key")),
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
  readonly valid_until: number | null;
}

const signingKeys = prepare<{ agent_id: string }>()(
  sql<SigningKeyRow>`
    select public_key, null as device_id, valid_until from agent_keys
      where agent_id = ${p("agent_id")}
    union all
    select public_key, device_id, null from devices
      where agent_id = ${p("agent_id")} and revoked_at is null`,
);

/** Empty for an agent that was never bootstrapped. */
export function signingKeysOf(read: Reader, agent_id: string): Promise<SigningKeyRow[]> {
  return read.all(signingKeys, { agent_id });
}

const known = prepare<{ ids: string }>()(
  sql<{ agent_id: string }>`
    select agent_id from agents where agent_id in (select value from json_each(${p("ids")}))`,
);

/** Those of the ids that this relay knows as agents. */
export async function knownAgents(read: Reader, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  return (await read.all(known, { ids: JSON.stringify(ids) })).map(({ agent_id }) => agent_id);
}
