import { appendKeyBound } from "../../log/entries/append.ts";
import type { Services } from "../../services.ts";
import type { Tx } from "../../storage/storage.ts";
import { listAgentKeys, startDeviceKeysAt, startOwnKeysAt } from "./key-store.ts";

const PAGE_SIZE = 500;

/**
 * Lets the keys that were bound at a wrong time count from now on, after the relay's clock was set back. The
 * relay would otherwise refuse the receipts of their agents for the length of the jump. The log gets an entry
 * with the corrected time.
 */
export async function correctKeyStarts({
  storage,
  runtime,
}: Pick<Services, "storage" | "runtime">): Promise<void> {
  for (const correctPage of [correctOwnKeys, correctDeviceKeys]) {
    const correct = () => storage.transaction((tx) => correctPage(tx, runtime.now()));
    while ((await correct()) === PAGE_SIZE);
  }
}

/** Returns the number of corrected keys. */
async function correctOwnKeys(tx: Tx, now: number): Promise<number> {
  const keys = await startOwnKeysAt(tx, { now, limit: PAGE_SIZE });
  for (const key of keys) {
    await appendKeyBound(tx, { ...key, device_id: null, valid_from: now }, now);
  }
  return keys.length;
}

async function correctDeviceKeys(tx: Tx, now: number): Promise<number> {
  const devices = await startDeviceKeysAt(tx, { now, limit: PAGE_SIZE });
  for (const device of devices) {
    const own = await listAgentKeys(tx, device.agent_id);
    // A device that carries the key of its agent has no entries of its own.
    if (own.some(({ public_key }) => public_key === device.public_key)) continue;
    await appendKeyBound(tx, { ...device, valid_from: now }, now);
  }
  return devices.length;
}
