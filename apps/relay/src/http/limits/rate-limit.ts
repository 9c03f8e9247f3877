import { createSlidingWindow, type SlidingWindow } from "./sliding-window.ts";

export interface RateDecision {
  readonly allowed: boolean;
  /** Calls per window; Infinity when limits are off. */
  readonly limit: number;
  readonly remaining: number;
  /** The time until the oldest counted call leaves the window. */
  readonly resetSeconds: number;
  /** 0 when allowed. */
  readonly retryAfterSeconds: number;
}

export interface RateLimiter {
  /** Decides one call of `key` and counts it if it is allowed. */
  take(tierLimit: number, windowMs: number, key: string): RateDecision;
  /**
   * Decides about a call that counts for several keys, and counts it for each if all of them allow it. The
   * decision states the limit of the first key, and the remaining calls of the key with the fewest left.
   */
  takeAll(windowMs: number, limits: readonly KeyLimit[]): RateDecision;
}

export interface KeyLimit {
  readonly key: string;
  readonly tierLimit: number;
}

export interface RateLimiterOptions {
  /** Multiplies every limit; 0 turns them off. */
  readonly scale: number;
  /** Milliseconds on any clock. */
  readonly now: () => number;
  /** The most keys per window length. Beyond it the oldest calls are dropped. */
  readonly maxEntries: number;
}

const unlimited: RateDecision = {
  allowed: true,
  limit: Infinity,
  remaining: Infinity,
  resetSeconds: 0,
  retryAfterSeconds: 0,
};

/** Limits calls by an exact sliding window: one is refused while `limit` allowed ones are within it. */
export function createRateLimiter({ scale, now, maxEntries }: RateLimiterOptions): RateLimiter {
  if (scale === 0) return { take: () => unlimited, takeAll: () => unlimited };
  const windows = new Map<number, SlidingWindow>();
  let latest = now();

  function getWindow(windowMs: number): SlidingWindow {
    const known = windows.get(windowMs);
    if (known !== undefined) return known;
    const created = createSlidingWindow(windowMs, maxEntries);
    windows.set(windowMs, created);
    return created;
  }

  /** Stops at the latest time when the clock is set back; beyond one window, counting starts again. */
  function monotonicNow(windowMs: number): number {
    const time = now();
    if (time < latest - windowMs) windows.clear();
    else if (time < latest) return latest;
    latest = time;
    return time;
  }

  function takeAll(windowMs: number, limits: readonly KeyLimit[]): RateDecision {
    const time = monotonicNow(windowMs);
    const window = getWindow(windowMs);
    const counted = limits.map(({ key, tierLimit }) => {
      const limit = Math.max(1, Math.round(tierLimit * scale));
      return { key, limit, left: limit - window.count(key, time) };
    });
    const left = Math.min(...counted.map((one) => one.left));
    const allowed = left > 0;
    if (allowed) for (const { key } of counted) window.add(key, time);
    const waits = counted
      .filter((one) => one.left === left)
      .map(({ key }) => (window.oldest(key) ?? time) + windowMs - time);
    const resetSeconds = Math.ceil(Math.max(...waits) / 1_000);
    return {
      allowed,
      limit: counted[0]?.limit ?? Infinity,
      remaining: allowed ? left - 1 : 0,
      resetSeconds,
      retryAfterSeconds: allowed ? 0 : resetSeconds,
    };
  }

  return {
    take: (tierLimit, windowMs, key) => takeAll(windowMs, [{ key, tierLimit }]),
    takeAll,
  };
}
