import { hexToBytes, type SuccessionRecord, verifySuccessionChain } from "@agent/crypto";
import { type ExecutionReceipt, filterKeysInForce } from "@agent/receipts";
import type { EvidenceBundle, KeyRecord, Signer } from "./schema.ts";

/**
 * Returns whether each agent is listed once and each of its keys after the first has a valid
 * succession record.
 */
export function areHistoriesValid(signers: readonly Signer[]): boolean {
  return (
    new Set(signers.map(({ agent_id }) => agent_id)).size === signers.length &&
    signers.every(isHistoryValid)
  );
}

function isHistoryValid({ agent_id: agentId, keys, chain }: Signer): boolean {
  const [first, ...later] = keys;
  if (first === undefined) return chain.length === 0;
  const records = chain as readonly Partial<SuccessionRecord>[];
  return (
    records.length === later.length &&
    later.every(({ public_key }, index) => records[index]?.new_public_key === public_key) &&
    verifySuccessionChain(chain, { agentId, firstPublicKey: hexToBytes(first.public_key) }).ok
  );
}

/** Returns the keys that count for a receipt. */
export type KeyLookup = (receipt: ExecutionReceipt) => readonly string[];

/** Returns a lookup that accepts every key that the agent ever had. */
export function createAnyKeyLookup(signers: readonly Signer[]): KeyLookup {
  return (signed) => sortKeys(signed, listAgentKeys(signers, signed.agent_id));
}

/** Returns a lookup that accepts the agent's keys by the rule that relays apply to receipts. */
export function createValidKeyLookup({
  signers,
  task,
  receipt,
  attestation,
}: EvidenceBundle): KeyLookup {
  return (signed) => {
    const times = {
      // Only the receipt states when a nested task was submitted.
      submittedAt: signed === receipt ? task.submitted_at : signed.submitted_at,
      completedAt: signed.completed_at,
      receivedAt: attestation.received_at,
    };
    return sortKeys(signed, filterKeysInForce(listAgentKeys(signers, signed.agent_id), times));
  };
}

/**
 * Sorts keys by how likely they signed a receipt: first those of the device that it names, then the agent's
 * own, newest first, then those of other devices.
 */
function sortKeys(
  { device_id: named }: ExecutionReceipt,
  keys: readonly (KeyRecord & { readonly device_id?: string })[],
): readonly string[] {
  const ofDevice = keys.filter(({ device_id }) => device_id !== undefined && device_id === named);
  const own = keys.filter(({ device_id }) => device_id === undefined).toReversed();
  const others = keys.filter(({ device_id }) => device_id !== undefined && device_id !== named);
  return [...ofDevice, ...own, ...others].map(({ public_key }) => public_key);
}

/** Lists the keys of an agent and of its devices, with their times. */
export function listAgentKeys(
  signers: readonly Signer[],
  agentId: string,
): readonly (KeyRecord & { readonly device_id?: string })[] {
  const signer = signers.find(({ agent_id }) => agent_id === agentId);
  return signer === undefined ? [] : [...signer.keys, ...signer.devices];
}
