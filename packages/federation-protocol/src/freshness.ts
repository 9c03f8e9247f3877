/**
 * Whether a signed time is at most `lifetimeMs` old and at most as far ahead, by the judging relay's
 * clock. Both bounds count as fresh (specification, "Federation requests").
 */
export function isFresh(timestamp: number, now: number, lifetimeMs: number): boolean {
  return Math.abs(now - timestamp) <= lifetimeMs;
}
