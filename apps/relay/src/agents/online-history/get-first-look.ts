import { MAX_MISS_MS } from "./decide-span.ts";

/**
 * Returns the time, in ms, from which the looks at an agent count: that of the look that found it first, if no
 * more than one was missed since it was known, because no look could find it before.
 */
export function getFirstLook(
  knownSince: number,
  spans: readonly { readonly since: number }[],
): number {
  const found = spans[0]?.since ?? knownSince;
  const delay = found - knownSince;
  return delay > 0 && delay <= MAX_MISS_MS ? found : knownSince;
}
