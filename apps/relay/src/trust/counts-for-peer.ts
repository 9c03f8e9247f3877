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
  { payerId, ...task }: PeerTask,
): Promise<boolean> {
  return payerId !== null && (await checkPeerTask(read, payerId, task)).counts;
}

/**
 * Returns whether a task that a peer let expire counts as its failure, and then uses fees of the payer. Other
 * failures do that in the payer's own record of the executor, which does not show a task that expired.
 */
export async function useFeesForPeer(
  tx: Tx,
  { payerId, ...expired }: Omit<PeerTask, "hasFailed">,
): Promise<boolean> {
  if (payerId === null) return false;
  const task = { ...expired, hasFailed: true };
  const { counts, thresholds } = await checkPeerTask(tx, payerId, task);
  if (!counts) return false;
  const fees_used = asMicro(computeUsedFees(task, thresholds));
  await addToFees(tx, { agent_id: payerId, fees_paid: ZERO, fees_used });
  return true;
}

async function checkPeerTask(
  read: Reader,
  payerId: string,
  { peerId, ...task }: Omit<PeerTask, "payerId">,
) {
  const { payerFees, usedFees, thresholds } = await findTrustPair(read, payerId, peerId);
  return { counts: countsForStrangers({ ...task, payerFees, usedFees }, thresholds), thresholds };
}
