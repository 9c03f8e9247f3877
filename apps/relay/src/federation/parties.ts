const prefix = "relay:";

/** How a task's row names the relay that it came from: as its payer, which is no agent. */
export function payerOf(relayId: string): string {
  return `${prefix}${relayId}`;
}

/** Whether a task came from another relay. */
export function isFromPeer({ submitted_by }: { readonly submitted_by: string | null }): boolean {
  return submitted_by?.startsWith(prefix) === true;
}

const claimPrefix = "relay ";

/** How a task's row says that a peer has it. */
export function claimOf(relayId: string): string {
  return `${claimPrefix}${relayId}`;
}

/** What all claims of peers look like, as a GLOB pattern of SQLite. */
export const PEER_CLAIM_PATTERN = `${claimPrefix}*`;

/** The relay that a task was handed to; undefined for one that is with an agent of this relay. */
export function peerOf(row: { readonly claimed_by: string | null }): string | undefined {
  return isWithPeer(row) ? row.claimed_by?.slice(claimPrefix.length) : undefined;
}

/** Whether a task was handed to another relay. */
export function isWithPeer({ claimed_by }: { readonly claimed_by: string | null }): boolean {
  return claimed_by?.startsWith(claimPrefix) === true;
}
