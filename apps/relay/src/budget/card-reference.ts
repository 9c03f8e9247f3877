const CARD_PREFIX = "stripe:";

/** Builds the reference of a card payment: its event and a manual deposit under it credit it once. */
export function buildCardReference(sessionId: string): string {
  return CARD_PREFIX + sessionId;
}

/** Returns what a reference names at the card processor, usually a session; undefined for money that came otherwise. */
export function parseCardReference(reference: string | undefined): string | undefined {
  return reference?.startsWith(CARD_PREFIX) ? reference.slice(CARD_PREFIX.length) : undefined;
}
