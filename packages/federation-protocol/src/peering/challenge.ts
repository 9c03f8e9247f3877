/** The text that answers a nonce; only UUIDs and 32-byte nonces may come here (decisions, 7). */
export function buildChallengeText(initiatorId: string, nonce: string): string {
  return `${initiatorId}:${nonce}`;
}
