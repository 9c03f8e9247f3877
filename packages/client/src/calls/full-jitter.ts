/**
 * Returns the wait before try `attempt` (from 0) in ms: a random time up to a bound that doubles each
 * time. The full spread keeps clients that lost a relay together from returning together.
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
