import { NONE } from "./edge-index.ts";

/** Builds the list of ids from the source of a search to `node`. */
export function buildPath(ids: readonly string[], previous: Int32Array, node: number): string[] {
  const path: string[] = [];
  for (let at = node; at !== NONE; at = previous[at]!) path.push(ids[at]!);
  return path.reverse();
}

/** Returns whether the route to `a` has smaller ids from the start than that to `b`, of equal length. */
export function isBefore(
  ids: readonly string[],
  previous: Int32Array,
  a: number,
  b: number,
): boolean {
  let lastA = a;
  let lastB = b;
  for (let x = a, y = b; x !== y; x = previous[x]!, y = previous[y]!) {
    lastA = x;
    lastB = y;
  }
  return ids[lastA]! < ids[lastB]!;
}
