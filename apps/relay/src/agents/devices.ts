import { hexToBytes, publicKeyToDidKey } from "@agent/crypto";
import {
  limits,
  refuse,
  type Answer,
  type Device,
  type Operations,
  type QueryOf,
} from "@agent/wire";
import { decodeCursor, encodeCursor } from "../http/cursor.ts";
import type { Reader } from "../storage/storage.ts";
import type { DeviceRow } from "../storage/tables/agents.ts";
import { devicePage, findDevice } from "./store.ts";

export async function getDevice(
  read: Reader,
  deviceId: string,
): Promise<Answer<Operations["getDevice"]>> {
  const device = await findDevice(read, deviceId);
  return device === undefined
    ? refuse("device.not_found")
    : { status: 200, body: deviceOf(device) };
}

/** All keys that act or acted for an agent, oldest first. */
export async function listDevices(
  read: Reader,
  agent_id: string,
  { limit = limits.pageDefault, cursor: given }: QueryOf<Operations["listDevices"]>,
): Promise<Answer<Operations["listDevices"]>> {
  const cursor = decodeCursor(given);
  if (!cursor.ok) return cursor;
  const rows = await devicePage(read, { agent_id, after: cursor.value ?? "", limit });
  const devices = rows.map((row) => ({ ...deviceOf(row), scopes: row.scopes.split(" ") }));
  const next_cursor = encodeCursor(rows, limit, (row) => row.device_id);
  return { status: 200, body: { devices, next_cursor } };
}

function deviceOf(row: DeviceRow): Device {
  return {
    device_id: row.device_id,
    agent_id: row.agent_id,
    public_key: row.public_key,
    did: publicKeyToDidKey(hexToBytes(row.public_key)),
    device_name: row.device_name,
    registered_at: row.registered_at,
    revoked: row.revoked_at !== null,
  };
}
