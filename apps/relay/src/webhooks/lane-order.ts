import type { DueWebhook } from "./store.ts";

const MAX_LANES_PER_OWNER = 4;

/** Counts the lanes of an owner. */
export type LaneCount = (owner: string) => number;

/**
 * Finds the next webhook to serve: the first one of the owners with the fewest lanes. A webhook that waits
 * has no lane.
 */
export function findNextWebhook(
  waiting: readonly DueWebhook[],
  countLanes: LaneCount,
): DueWebhook | undefined {
  let next: DueWebhook | undefined;
  let fewest = MAX_LANES_PER_OWNER;
  for (const webhook of waiting) {
    const count = countLanes(webhook.owner);
    if (count >= fewest) continue;
    [next, fewest] = [webhook, count];
    if (fewest === 0) break;
  }
  return next;
}

/**
 * Returns whether a lane of this owner is wanted by another of its webhooks, or by an owner with fewer
 * lanes.
 */
export function isLaneWanted(
  waiting: readonly DueWebhook[],
  countLanes: LaneCount,
  owner: string,
): boolean {
  const own = countLanes(owner);
  return waiting.some((other) => other.owner === owner || countLanes(other.owner) < own);
}
