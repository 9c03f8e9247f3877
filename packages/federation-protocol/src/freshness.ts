/**
 * Whether a signed time is at most `lifetimeMs` old and at most as far ahead, by the judging relay's
 * clock. Both bounds count as fresh (specification, "Federation requests").
 */
export function isFresh(timestamp: number, now: number, lifetimeMs: number): boolean {
  return Math.abs(now - timestamp) <= lifetimeMs;
}

/**
 * Whether a time that a peer signed in an answer is fresh, when it was asked at `askedAt` and the
 * answer is judged at `now`. A peer that found the request fresh signs a fresh answer, however long the
 * answer is under way: it was made between the two, by a clock that is at most `lifetimeMs` off.
 */
export function isFreshAnswer(
  timestamp: number,
  { askedAt, now }: { readonly askedAt: number; readonly now: number },
  lifetimeMs: number,
): boolean {
  return timestamp >= askedAt - lifetimeMs && timestamp <= now + lifetimeMs;
}
