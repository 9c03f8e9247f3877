import { hexToBytes, type SuccessionRecord, verifySuccessionChain } from "@agent/crypto";
import { type ExecutionReceipt, RECEIPT_LIMITS } from "@agent/receipts";
import type { KeyTerm, Signer } from "./schema.ts";

/** Whether each agent is listed once, and each of its keys after the first was handed over to. */
export function historiesHold(signers: readonly Signer[]): boolean {
  return (
    new Set(signers.map(({ agent_id }) => agent_id)).size === signers.length &&
    signers.every(historyHolds)
  );
}

function historyHolds({ agent_id: agentId, keys, chain }: Signer): boolean {
  const [first, ...later] = keys;
  if (first === undefined) return chain.length === 0;
  const records = chain as readonly Partial<SuccessionRecord>[];
  return (
    records.length === later.length &&
    later.every(({ public_key }, index) => records[index]?.new_public_key === public_key) &&
    verifySuccessionChain(chain, { agentId, firstPublicKey: hexToBytes(first.public_key) }).ok
  );
}

/** Which keys count for a receipt. */
export type KeysOf = (receipt: ExecutionReceipt) => readonly string[];

/** All keys that its agent ever had. */
export function keysEver(signers: readonly Signer[]): KeysOf {
  return ({ agent_id }) => termsOf(signers, agent_id).map(({ public_key }) => public_key);
}

/** The keys of its agent that were in force when the receipt was completed. */
export function keysInForce(signers: readonly Signer[]): KeysOf {
  return ({ agent_id, completed_at }) =>
    termsOf(signers, agent_id)
      .filter(
        ({ valid_from, valid_until }) =>
          // An agent's clock may be behind the relay's, which wrote down when the key came.
          valid_from <= completed_at + RECEIPT_LIMITS.clockSkewMs &&
          (valid_until === null || completed_at < valid_until),
      )
      .map(({ public_key }) => public_key);
}

function termsOf(signers: readonly Signer[], agentId: string): readonly KeyTerm[] {
  const signer = signers.find(({ agent_id }) => agent_id === agentId);
  return signer === undefined ? [] : [...signer.keys, ...signer.devices];
}
