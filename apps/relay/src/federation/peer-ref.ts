import type { TaskRow } from "../storage/tables/tasks.ts";

const PAYER_PREFIX = "relay:";

/** The account of a peer, which pays for the tasks that the peer submits. */
export function peerPayerRef(relayId: string): string {
  return `${PAYER_PREFIX}${relayId}`;
}

/** Whether an account is that of a peer. */
export function isPeerPayer(account: string): boolean {
  return account.startsWith(PAYER_PREFIX);
}

/** The claimant of a task that a peer has. */
export function peerClaimRef(relayId: string): string {
  return `relay ${relayId}`;
}

/** Whether a task came from another relay. */
export function isFromPeer({ origin_peer }: Pick<TaskRow, "origin_peer">): boolean {
  return origin_peer !== null;
}

/** Whether a task was forwarded to another relay, which has it now. */
export function isClaimedByPeer(task: Pick<TaskRow, "via_peer" | "claimed_by">): boolean {
  return task.via_peer !== null && task.claimed_by !== null;
}
