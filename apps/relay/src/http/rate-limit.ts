export interface RateDecision {
  readonly allowed: boolean;
  /** Calls per window; Infinity when limits are off. */
  readonly limit: number;
  readonly remaining: number;
  /** Until the oldest counted call leaves the window. */
  readonly resetSeconds: number;
  /** 0 when allowed. */
  readonly retryAfterSeconds: number;
}

export interface RateLimiter {
  /** Counts one call of `key`, which always comes with the same limit and window. */
  take(tierLimit: number, windowMs: number, key: string): RateDecision;
}

export interface RateLimiterOptions {
  /** Multiplies every limit; 0 turns them off. */
  readonly scale: number;
  /** Milliseconds on any clock. */
  readonly now: () => number;
  /** The most keys that are remembered; beyond it the longest unused are forgotten. */
  readonly maxEntries: number;
}

/** The times of the allowed calls of one key, oldest first; those before `head` have left the window. */
interface Calls {
  times: number[];
  head: number;
}

const off: RateDecision = {
  allowed: true,
  limit: Infinity,
  remaining: Infinity,
  resetSeconds: 0,
  retryAfterSeconds: 0,
};

const COMPACT_AT = 64;

/** An exact sliding window: a call is refused while `limit` allowed ones lie within the window. */
export function createRateLimiter({ scale, now, maxEntries }: RateLimiterOptions): RateLimiter {
  if (scale === 0) return { take: () => off };

  // Two generations make forgetting free: an entry that is not used while one generation grows
  // old is dropped with it. No timer, no scan, at most `maxEntries` keys in both together.
  const generationSize = Math.max(1, Math.floor(maxEntries / 2));
  let young = new Map<string, Calls>();
  let old = new Map<string, Calls>();
  let turnedAt = now();
  let longestWindowMs = 0;

  function turn(time: number): void {
    old = young;
    young = new Map();
    turnedAt = time;
  }

  function callsOf(key: string, time: number, windowMs: number): Calls {
    longestWindowMs = Math.max(longestWindowMs, windowMs);
    if (time < turnedAt - longestWindowMs) {
      // The clock was set back: counted calls would lie in the future and never leave.
      young = new Map();
      turn(time);
    }
    if (time - turnedAt >= longestWindowMs) turn(time);
    const known = young.get(key);
    if (known !== undefined) return known;
    if (young.size >= generationSize) turn(time);
    const calls = old.get(key) ?? { times: [], head: 0 };
    young.set(key, calls);
    return calls;
  }

  return {
    take(tierLimit, windowMs, key) {
      const time = now();
      const limit = Math.max(1, Math.round(tierLimit * scale));
      const calls = callsOf(key, time, windowMs);
      forget(calls, time - windowMs);
      const counted = calls.times.length - calls.head;
      const allowed = counted < limit;
      if (allowed) calls.times.push(time);
      const oldest = calls.times[calls.head] ?? time;
      const resetSeconds = Math.max(1, Math.ceil((oldest + windowMs - time) / 1_000));
      return {
        allowed,
        limit,
        remaining: allowed ? limit - counted - 1 : 0,
        resetSeconds,
        retryAfterSeconds: allowed ? 0 : resetSeconds,
      };
    },
  };
}

/** Moves `head` past the calls at or before `until`; the array shrinks once half of it is past. */
function forget(calls: Calls, until: number): void {
  const { times } = calls;
  while (calls.head < times.length && (times[calls.head] ?? 0) <= until) calls.head += 1;
  if (calls.head >= COMPACT_AT && calls.head * 2 >= times.length) {
    times.copyWithin(0, calls.head);
    times.length -= calls.head;
    calls.head = 0;
  }
}
