/** The time for which a call may be decided about, and an approval may be used. */
export const APPROVAL_LIFETIME_MS = 3_600_000;

/**
 * Returns whether an approval, or the request for one, is in force. One that ends later than any that begins within
 * the hour was requested by a clock that has been set back since, and would otherwise last until that wrong time.
 */
export function isInForce(expiresAt: number, now: number): boolean {
  return now < expiresAt && expiresAt - now < 2 * APPROVAL_LIFETIME_MS;
}
