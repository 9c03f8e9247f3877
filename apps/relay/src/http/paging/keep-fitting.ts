import { limits } from "@agent/wire";

/**
 * Returns the entries that fit together into one answer, for a list that has no further pages. Each may
 * use an equal share of the answer, so that long entries displace no others; what the short ones leave of
 * it goes to the long ones, in their order.
 */
export function keepFitting<Entry>(
  entries: readonly Entry[],
  toText: (entry: Entry) => string,
): Entry[] {
  const sizes = entries.map((entry) => Buffer.byteLength(toText(entry)));
  const share = limits.pageBytes / entries.length;
  const short = sizes.filter((size) => size <= share);
  let left = short.reduce((sum, size) => sum - size, limits.pageBytes);
  return entries.filter((_, index) => {
    const size = sizes[index] ?? 0;
    if (size <= share) return true;
    if (size > left) return false;
    left -= size;
    return true;
  });
}
