import { asMicro, ZERO } from "@agent/budget";
import { computeUsedFees, countsForStrangers } from "@agent/routing-semiring";
import type { Reader, Tx } from "../storage/storage.ts";
import { addToFees } from "./history-store.ts";
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

/**
 * Returns whether a task that a peer let expire counts as its failure, and then uses fees of the payer. Other
 * failures do that in the payer's own record of the executor, which does not show a task that expired.
 */
export async function useFeesForPeer(
  tx: Tx,
  expired: Omit<PeerTask, "hasFailed">,
): Promise<boolean> {
  const { peerId, payerId, fee } = expired;
  if (payerId === null || !(await countsForPeer(tx, { ...expired, hasFailed: true }))) return false;
  const { thresholds } = await findTrustPair(tx, payerId, peerId);
  const fees_used = asMicro(computeUsedFees(fee, thresholds));
  await addToFees(tx, { agent_id: payerId, fees_paid: ZERO, fees_used });
  return true;
}
