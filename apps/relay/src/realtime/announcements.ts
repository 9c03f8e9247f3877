import {
  findDevice,
  hasAnnouncingDevice,
  updateDeviceCapabilities,
} from "../agents/devices/device-store.ts";
import type { Reader, Storage } from "../storage/storage.ts";
import type { Connection } from "./connections.ts";

interface StoredAnnouncement {
  /** The device's last announcement; undefined when it never made one. */
  readonly capabilities: readonly string[] | undefined;
  /** Whether any device of its agent ever announced capabilities. */
  readonly isAnnounced: boolean;
}

/** Loads the capabilities that a device announced on earlier connections. */
export async function loadAnnouncement(
  read: Reader,
  { agentId, deviceId }: Connection,
): Promise<StoredAnnouncement> {
  const [device, isAnnounced] = await Promise.all([
    deviceId === null ? undefined : findDevice(read, deviceId),
    hasAnnouncingDevice(read, agentId),
  ]);
  const text = device?.capabilities ?? null;
  return {
    capabilities: text === null ? undefined : (JSON.parse(text) as string[]),
    isAnnounced,
  };
}

/** Saves a device's announcement. The operator's socket belongs to no device and saves nothing. */
export async function saveAnnouncement(
  storage: Storage,
  { deviceId: device_id, capabilities = [] }: Connection,
): Promise<void> {
  if (device_id === null) return;
  const announced = { device_id, capabilities: JSON.stringify(capabilities) };
  await storage.transaction((tx) => updateDeviceCapabilities(tx, announced));
}
