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

/** Accepts every key that the agent ever had. */
export function createAnyKeyLookup(
  signers: readonly Signer[],
): (receipt: Pick<ExecutionReceipt, "agent_id">) => readonly string[] {
  return ({ agent_id }) => listAgentKeys(signers, agent_id).map(({ public_key }) => public_key);
}

/** Accepts the keys of the agent by the rule by which relays accept receipts. */
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
    const keys = filterKeysInForce(listAgentKeys(signers, signed.agent_id), times);
    return keys.map(({ public_key }) => public_key);
  };
}

/** Lists the keys of an agent and of its devices, with their times. */
export function listAgentKeys(
  signers: readonly Signer[],
  agentId: string,
): readonly (KeyRecord & { readonly device_id?: string })[] {
  const signer = signers.find(({ agent_id }) => agent_id === agentId);
  return signer === undefined ? [] : [...signer.keys, ...signer.devices];
}
