import {
  findDevice,
  hasAnnouncingDevice,
  updateDeviceCapabilities,
} from "../agents/devices/device-store.ts";
import type { Reader, Storage } from "../storage/storage.ts";
import type { Connection } from "./connections.ts";

interface StoredAnnouncement {
  /** What this device announced last; undefined while it never did. */
  readonly capabilities: readonly string[] | undefined;
  /** Whether any device of its agent ever did. */
  readonly isAnnounced: boolean;
}

/** What is known of a device's capabilities from before it connected. */
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

/** Keeps what a device announced; the operator's socket is no device. */
export async function saveAnnouncement(
  storage: Storage,
  { deviceId: device_id, capabilities = [] }: Connection,
): Promise<void> {
  if (device_id === null) return;
  const announced = { device_id, capabilities: JSON.stringify(capabilities) };
  await storage.transaction((tx) => updateDeviceCapabilities(tx, announced));
}
