/**
 * Returns whether a signed time is at most `lifetimeMs` before or after this relay's time, both inclusive;
 * times in ms since the epoch (specification, "Federation requests").
 */
export function isFresh(timestamp: number, now: number, lifetimeMs: number): boolean {
  return Math.abs(now - timestamp) <= lifetimeMs;
}

/**
 * Returns whether a peer's signed time in an answer is fresh, if the request was sent at `askedAt`
 * and the answer is checked at `now`. The peer signed between the two, by a clock that differs by
 * at most `lifetimeMs`, so the answer is fresh however long it took to arrive. Times are in ms since the
 * epoch; `askedAt` and `now` are by this relay's clock.
 */
export function isFreshAnswer(
  timestamp: number,
  { askedAt, now }: { readonly askedAt: number; readonly now: number },
  lifetimeMs: number,
): boolean {
  return timestamp >= askedAt - lifetimeMs && timestamp <= now + lifetimeMs;
}
