import { db, p, prepare, sql } from "../storage/prepared.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { DeviceRow, StoredDeviceRow } from "../storage/tables/agents.ts";

const deviceById = prepare<{ device_id: string }>()(
  db.selectFrom("devices").selectAll().where("device_id", "=", p("device_id")),
);

export function findDevice(read: Reader, device_id: string): Promise<StoredDeviceRow | undefined> {
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

const setCapabilities = prepare<{ device_id: string; capabilities: string }>()(
  db
    .updateTable("devices")
    .set({ capabilities: p("capabilities") })
    .where("device_id", "=", p("device_id"))
    .where(sql<boolean>`capabilities is not ${p("capabilities")}`),
);

/** Stores what a device announced that it can do, as a JSON array. */
export async function updateDeviceCapabilities(
  tx: Tx,
  announced: { readonly device_id: string; readonly capabilities: string },
): Promise<void> {
  await tx.run(setCapabilities, announced);
}

const announcing = prepare<{ agent_id: string }>()(
  db
    .selectFrom("devices")
    .select("device_id")
    .where("agent_id", "=", p("agent_id"))
    .where("capabilities", "is not", null)
    .where("revoked_at", "is", null)
    .limit(1),
);

/** Whether a device of the agent that is not revoked ever announced what it can do. */
export async function hasAnnouncingDevice(read: Reader, agent_id: string): Promise<boolean> {
  return (await read.get(announcing, { agent_id })) !== undefined;
}
