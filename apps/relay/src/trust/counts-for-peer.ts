import { countsForStrangers } from "@agent/routing-semiring";
import type { Reader } from "../storage/storage.ts";
import { findTrustPair } from "./pair-store.ts";

/** A task that a peer had, as it decides whether it counts for that peer. */
interface PeerTask {
  readonly peerId: string;
  readonly payerId: string | null;
  readonly priced: boolean;
  readonly hasFailed: boolean;
  /** The relay's fee of the task's charge, whatever the outcome, in micro-units. */
  readonly fee: number;
}

/**
 * Returns whether a task counts as a success or a failure of the peer that had it: by the rule for strangers,
 * because the record of a peer weighs the words about all agents behind it.
 */
export async function countsForPeer(
  read: Reader,
  { peerId, payerId, ...task }: PeerTask,
): Promise<boolean> {
  if (payerId === null) return false;
  const { payerFees, usedFees, thresholds } = await findTrustPair(read, payerId, peerId);
  return countsForStrangers({ ...task, payerFees, usedFees }, thresholds);
}
