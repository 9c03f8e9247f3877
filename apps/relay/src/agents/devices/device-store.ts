import { appendKeyEnded } from "../../log/entries/append.ts";
import {
  inBatches,
  queryBuilder,
  param,
  params,
  compile,
  sql,
} from "../../storage/queries/compiled-query.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { DeviceRow, StoredDeviceRow } from "../../storage/tables/agents.ts";

const deviceById = inBatches(
  compile<{ device_id: string }>()(
    queryBuilder.selectFrom("devices").selectAll().where("device_id", "=", param("device_id")),
  ),
);

export function findDevice(read: Reader, device_id: string): Promise<StoredDeviceRow | undefined> {
  return read.get(deviceById, { device_id });
}

/** Lists the scopes that tokens of a device may contain; an empty text contains none. */
export function listScopes({ scopes }: Pick<DeviceRow, "scopes">): string[] {
  return scopes === "" ? [] : scopes.split(" ");
}

const devicesByAgent = compile<{ agent_id: string }>()(
  queryBuilder
    .selectFrom("devices")
    .selectAll()
    .where("agent_id", "=", param("agent_id"))
    .orderBy("registered_at")
    .orderBy("device_id"),
);

export function listAgentDevices(read: Reader, agent_id: string): Promise<DeviceRow[]> {
  return read.all(devicesByAgent, { agent_id });
}

const devicesAfter = compile<{ agent_id: string; after: string; limit: number }>()(
  queryBuilder
    .selectFrom("devices")
    .selectAll()
    .where("agent_id", "=", param("agent_id"))
    .where("device_id", ">", param("after"))
    .orderBy("device_id")
    .limit(param("limit")),
);

/** Ordered by id, and thus by time. */
export function listDevicePage(
  read: Reader,
  query: { agent_id: string; after: string; limit: number },
): Promise<DeviceRow[]> {
  return read.all(devicesAfter, query);
}

const activeDeviceCount = compile<{ agent_id: string }>()(
  sql<{ count: number }>`
    select count(*) as count from devices
      where agent_id = ${param("agent_id")} and revoked_at is null`,
);

export async function countActiveDevices(read: Reader, agent_id: string): Promise<number> {
  return (await read.get(activeDeviceCount, { agent_id }))?.count ?? 0;
}

const revokeDeviceQuery = compile<{ device_id: string; now: number }>()(
  queryBuilder
    .updateTable("devices")
    .set({ revoked_at: param("now") })
    .where("device_id", "=", param("device_id"))
    .where("revoked_at", "is", null)
    .returning(["device_id", "agent_id", "public_key"]),
);

/** Returns false when the device was revoked before: the first time counts. */
export async function markDeviceRevoked(tx: Tx, device_id: string, now: number): Promise<boolean> {
  const device = await tx.get(revokeDeviceQuery, { device_id, now });
  if (device === undefined) return false;
  await appendKeyEnded(tx, { ...device, valid_until: now }, now);
  return true;
}

const insertDeviceQuery = compile<DeviceRow>()(
  queryBuilder
    .insertInto("devices")
    .values(
      params(
        "device_id",
        "agent_id",
        "public_key",
        "device_name",
        "scopes",
        "registered_at",
        "revoked_at",
      ),
    ),
);

export async function insertDevice(tx: Tx, device: DeviceRow): Promise<void> {
  await tx.run(insertDeviceQuery, device);
}

const updateCapabilitiesQuery = compile<{ device_id: string; capabilities: string }>()(
  queryBuilder
    .updateTable("devices")
    .set(params("capabilities"))
    .where("device_id", "=", param("device_id"))
    .where(sql<boolean>`capabilities is distinct from ${param("capabilities")}`),
);

/** Stores the capabilities that a device announced, as a JSON array. */
export async function updateDeviceCapabilities(
  tx: Tx,
  announced: { readonly device_id: string; readonly capabilities: string },
): Promise<void> {
  await tx.run(updateCapabilitiesQuery, announced);
}

const announcingDevice = compile<{ agent_id: string }>()(
  queryBuilder
    .selectFrom("devices")
    .select("device_id")
    .where("agent_id", "=", param("agent_id"))
    .where("capabilities", "is not", null)
    .where("revoked_at", "is", null)
    .limit(1),
);

/** Returns whether an active device of the agent ever announced its capabilities. */
export async function hasAnnouncingDevice(read: Reader, agent_id: string): Promise<boolean> {
  return (await read.get(announcingDevice, { agent_id })) !== undefined;
}
