/** Returns the first `limit` items in order without sorting the others. */
export function selectTop<T>(
  items: Iterable<T>,
  limit: number,
  compare: (a: T, b: T) => number,
): T[] {
  if (!(limit >= 1)) return [];
  const kept: T[] = [];
  let last: T | undefined;
  const trim = (): void => {
    kept.sort(compare);
    if (kept.length < limit) return;
    kept.length = Math.floor(limit);
    last = kept.at(-1);
  };
  for (const item of items) {
    if (last !== undefined && compare(item, last) >= 0) continue;
    kept.push(item);
    if (kept.length >= 2 * limit + 64) trim();
  }
  trim();
  return kept;
}
