import { listPinnedKeys } from "@agent/federation-protocol/peering";
import { verifyAttestation, type RelayAttestation } from "@agent/receipts";
import type { Reader } from "../../storage/storage.ts";
import { findOutbound } from "./outbound-store.ts";
import { toPeerPin } from "../peers/peer-key.ts";
import { findPeer } from "../peers/peer-store.ts";

/**
 * Returns the attestation of the executing relay for a task's receipt, for callers that poll the task.
 */
export async function findAttestation(
  read: Reader,
  taskId: string,
): Promise<{ readonly attestation?: Record<string, unknown> }> {
  const attestation = (await findOutbound(read, taskId))?.attestation ?? null;
  if (attestation === null) return {};
  return { attestation: JSON.parse(attestation) as Record<string, unknown> };
}

/** The evidence by which a receipt from another relay was accepted. */
export interface ResultOrigin {
  readonly workerId: string;
  /** The executor's key, as pinned when the task was forwarded. */
  readonly publicKey: string;
  readonly peer: {
    readonly relay_id: string;
    readonly public_key: string;
    readonly attestation: RelayAttestation;
  };
}

/** Returns undefined for a task that a local agent executed. */
export async function findResultOrigin(
  read: Reader,
  taskId: string,
): Promise<ResultOrigin | undefined> {
  const outbound = await findOutbound(read, taskId);
  if (outbound === undefined || outbound.attestation === null) return undefined;
  const { peerId, agentId, publicKey } = outbound.task;
  const peer = await findPeer(read, peerId);
  if (peer === undefined) return undefined;
  const { relay_id } = peer;
  const attestation = JSON.parse(outbound.attestation) as RelayAttestation;
  // The peer may have changed its key since it signed this.
  const isSigner = (publicKey: string) => verifyAttestation(attestation, { publicKey }).valid;
  const public_key = listPinnedKeys(toPeerPin(peer)).findLast(isSigner) ?? peer.public_key;
  return { workerId: agentId, publicKey, peer: { relay_id, public_key, attestation } };
}
