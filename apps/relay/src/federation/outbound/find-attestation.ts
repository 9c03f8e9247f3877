import { listPinnedKeys } from "@agent/federation-protocol/peering";
import { verifyAttestation, type RelayAttestation } from "@agent/receipts";
import type { Reader } from "../../storage/storage.ts";
import { findOutbound } from "./outbound-store.ts";
import { toPeerPin } from "../peers/follow-peer-key.ts";
import { findPeer } from "../peers/peer-store.ts";

/** What the relay that had a task says of its receipt, for whoever polls it. */
export async function findAttestation(
  read: Reader,
  taskId: string,
): Promise<{ readonly attestation?: Record<string, unknown> }> {
  const attestation = (await findOutbound(read, taskId))?.attestation ?? null;
  if (attestation === null) return {};
  return { attestation: JSON.parse(attestation) as Record<string, unknown> };
}

/** What a receipt was taken by that came from another relay. */
export interface ResultOrigin {
  readonly workerId: string;
  /** Of the worker, as it was pinned when the task went out. */
  readonly publicKey: string;
  readonly peer: {
    readonly relay_id: string;
    readonly public_key: string;
    readonly attestation: RelayAttestation;
  };
}

/** Undefined for a task that was done here. */
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
  // The peer may have come to another key since it signed this.
  const isSigner = (publicKey: string) => verifyAttestation(attestation, { publicKey }).valid;
  const public_key = listPinnedKeys(toPeerPin(peer)).findLast(isSigner) ?? peer.public_key;
  return { workerId: agentId, publicKey, peer: { relay_id, public_key, attestation } };
}
