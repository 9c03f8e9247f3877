import { MAX_MISS_MS } from "./decide-span.ts";

/**
 * Returns the time, in ms, from which the samples of an agent count: that of the first sample that found
 * it, if at most one sample missed it since it became known, because no sample could find it earlier.
 */
export function getFirstLook(
  knownSince: number,
  spans: readonly { readonly since: number }[],
): number {
  const found = spans[0]?.since ?? knownSince;
  const delay = found - knownSince;
  return delay > 0 && delay <= MAX_MISS_MS ? found : knownSince;
}
