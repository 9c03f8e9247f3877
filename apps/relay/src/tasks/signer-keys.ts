import type { ExecutionReceipt } from "@agent/receipts";
import { devicesOf, findAgent, keysOf } from "../agents/store.ts";
import type { Reader } from "../storage/storage.ts";

/** The keys that count for a receipt; undefined for an agent of which the relay knows no key. */
export type SignerKeys = readonly string[] | undefined;

/**
 * The keys bound to a receipt's agent: its device's first, then its own, then its other devices'. A
 * former key counts only for a task that was submitted before the rotation (docs/decisions.md, 4).
 */
export async function signerKeys(
  read: Reader,
  { agent_id, device_id }: Pick<ExecutionReceipt, "agent_id" | "device_id">,
  submittedAt: number,
): Promise<SignerKeys> {
  const agent = await findAgent(read, agent_id);
  if (agent === undefined || agent.public_key === null) return undefined;
  const devices = (await devicesOf(read, agent_id)).filter((device) => device.revoked_at === null);
  const own = (await keysOf(read, agent_id)).filter(
    ({ valid_until }) => valid_until === null || submittedAt < valid_until,
  );
  const named = devices.filter((device) => device.device_id === device_id);
  return [...new Set([...named, ...own.reverse(), ...devices].map((key) => key.public_key))];
}
