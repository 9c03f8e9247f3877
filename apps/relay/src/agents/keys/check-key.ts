import { limits, refuse, type Refusal } from "@agent/wire";
import type { Reader } from "../../storage/storage.ts";
import { listAgentDevices } from "../devices/device-store.ts";
import { isProvenElsewhere, listOtherBindings, type KeyBinding } from "./key-proof-store.ts";
import { listAgentKeys, listSigningKeys } from "./key-store.ts";

/** Refuses a key that another agent has proven and has in force. */
export async function checkKeyNotInUse(
  read: Reader,
  { agent_id, public_key }: KeyBinding,
): Promise<Refusal<"agent.key_in_use"> | undefined> {
  const isTaken = await isProvenElsewhere(read, { agent_id, public_key });
  return isTaken ? refuse("agent.key_in_use") : undefined;
}

/**
 * Refuses a key that another agent has proven, and one that many other ids claim without proof: the first
 * proof ends all these claims in one transaction, for which every other request waits.
 */
export async function checkUnprovenKey(
  read: Reader,
  binding: KeyBinding,
): Promise<Refusal<"agent.key_in_use"> | undefined> {
  const inUse = await checkKeyNotInUse(read, binding);
  if (inUse !== undefined) return inUse;
  const others = await listOtherBindings(read, binding);
  if (others.length < limits.unprovenBindings) return undefined;
  return refuse("agent.key_in_use", "many ids claim it, so a bootstrap must prove it");
}

/**
 * Refuses the key of a new device if the agent or one of its devices has or had it. What was retired or revoked must
 * not return, and what was signed by a key that is both an agent's own and a device's cannot be proven later.
 */
export async function checkDeviceKey(
  read: Reader,
  { agent_id, public_key }: KeyBinding,
): Promise<Refusal<"agent.key_unacceptable"> | undefined> {
  const own = await listAgentKeys(read, agent_id);
  const isKnown =
    own.some((key) => key.public_key === public_key) ||
    (await isDeviceKey(read, { agent_id, public_key }));
  return isKnown ? refuse("agent.key_unacceptable", "the key must be new to the agent") : undefined;
}

/** Returns whether a device of an agent has or had a key. */
export async function isDeviceKey(
  read: Reader,
  { agent_id, public_key }: KeyBinding,
): Promise<boolean> {
  const devices = await listAgentDevices(read, agent_id);
  return devices.some((device) => device.public_key === public_key);
}

/** Refuses a task that names its target by key, unless an agent of this relay has that key in force. */
export async function checkTargetKey(
  read: Reader,
  { agentId, publicKey }: { readonly agentId: string; readonly publicKey: string | undefined },
): Promise<Refusal<"task.id_conflict" | "agent.not_found"> | undefined> {
  if (publicKey === undefined) return undefined;
  const keys = await listSigningKeys(read, agentId);
  if (keys.length === 0) return refuse("agent.not_found");
  const isInForce = keys.some((key) => key.public_key === publicKey && key.valid_until === null);
  return isInForce ? undefined : refuse("task.id_conflict");
}
