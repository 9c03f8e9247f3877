import { hexToDidKey } from "@agent/crypto";
import { refuse, type Answer, type Device, type Operations, type QueryOf } from "@agent/wire";
import { createPageAnswer, textAscending } from "../../http/paging/page.ts";
import type { Reader } from "../../storage/storage.ts";
import type { DeviceRow } from "../../storage/tables/agents.ts";
import { listDevicePage, findDevice, listScopes } from "./device-store.ts";

export async function getDevice(
  read: Reader,
  deviceId: string,
): Promise<Answer<Operations["getDevice"]>> {
  const device = await findDevice(read, deviceId);
  return device === undefined
    ? refuse("device.not_found")
    : { status: 200, body: toDevice(device) };
}

/** Lists all current and former keys of an agent, oldest first. */
export async function listDevices(
  read: Reader,
  agent_id: string,
  query: QueryOf<Operations["listDevices"]>,
): Promise<Answer<Operations["listDevices"]>> {
  return createPageAnswer(query, {
    order: textAscending,
    find: (after, limit) => listDevicePage(read, { agent_id, after, limit }),
    keyOf: ({ device_id }) => device_id,
    show: (rows) => ({
      devices: rows.map((row) => ({ ...toDevice(row), scopes: listScopes(row) })),
    }),
  });
}

function toDevice(row: DeviceRow): Device {
  return {
    device_id: row.device_id,
    agent_id: row.agent_id,
    public_key: row.public_key,
    did: hexToDidKey(row.public_key),
    device_name: row.device_name,
    registered_at: row.registered_at,
    revoked: row.revoked_at !== null,
  };
}
