import { NONE } from "./edge-index.ts";

/** Builds the list of ids from the source of a search to `node`. */
export function buildPath(ids: readonly string[], previous: Int32Array, node: number): string[] {
  const path: string[] = [];
  for (let at = node; at !== NONE; at = previous[at]!) path.push(ids[at]!);
  return path.reverse();
}

/**
 * Returns whether the ids of the route to `a` sort before those of the route to `b`, which has the same
 * length.
 */
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
