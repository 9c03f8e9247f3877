/** The bounds of the wait before a lost stream or socket is opened again. */
export const RECONNECTION_BACKOFF = { baseMs: 500, capMs: 30_000 } as const;

/**
 * Returns the wait before attempt number `attempt` (from 0) in ms: a random time up to a bound that doubles
 * with each attempt. The full spread prevents clients that lost a relay at the same time from reconnecting
 * at the same time.
 */
export function fullJitter(
  attempt: number,
  { baseMs, capMs }: { readonly baseMs: number; readonly capMs: number },
  randomBytes: (length: number) => Uint8Array,
): number {
  const bound = Math.min(capMs, baseMs * 2 ** attempt);
  const [a = 0, b = 0, c = 0] = randomBytes(3);
  return Math.floor((bound * ((a << 16) | (b << 8) | c)) / 2 ** 24);
}
