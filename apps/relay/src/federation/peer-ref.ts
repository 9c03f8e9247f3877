const PAYER_PREFIX = "relay:";

/** How a task's row names the relay that it came from: as its payer, which is no agent. */
export function peerPayerRef(relayId: string): string {
  return `${PAYER_PREFIX}${relayId}`;
}

/** Whether a task came from another relay. */
export function isFromPeer({ submitted_by }: { readonly submitted_by: string | null }): boolean {
  return submitted_by?.startsWith(PAYER_PREFIX) === true;
}

const CLAIM_PREFIX = "relay ";

/** How a task's row says that a peer has it. */
export function peerClaimRef(relayId: string): string {
  return `${CLAIM_PREFIX}${relayId}`;
}

/** What all claims of peers look like, as a GLOB pattern of SQLite. */
export const PEER_CLAIM_PATTERN = `${CLAIM_PREFIX}*`;

/** The relay that a task was handed to; undefined for one that is with an agent of this relay. */
export function claimingPeerOf(row: { readonly claimed_by: string | null }): string | undefined {
  return isClaimedByPeer(row) ? row.claimed_by?.slice(CLAIM_PREFIX.length) : undefined;
}

/** Whether a task was handed to another relay. */
export function isClaimedByPeer({ claimed_by }: { readonly claimed_by: string | null }): boolean {
  return claimed_by?.startsWith(CLAIM_PREFIX) === true;
}
