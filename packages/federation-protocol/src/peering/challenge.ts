/**
 * Builds the text that answers a nonce. Only UUIDs and 32-byte nonces may be passed, so that the
 * text is unambiguous (decisions, 7).
 */
export function buildChallengeText(initiatorId: string, nonce: string): string {
  return `${initiatorId}:${nonce}`;
}
