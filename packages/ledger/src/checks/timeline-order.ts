import type { LedgerEvent } from "../events.ts";

/** Returns whether no event is older than the one before it. */
export function isSortedByTime(timeline: readonly LedgerEvent[]): boolean {
  let latest = -Infinity;
  for (const { timestamp } of timeline) {
    if (timestamp < latest) return false;
    latest = timestamp;
  }
  return true;
}

/**
 * Returns the events in the order of their times; events of the same millisecond keep their order.
 */
export function sortByTime(events: readonly LedgerEvent[]): LedgerEvent[] {
  return events.toSorted((left, right) => left.timestamp - right.timestamp);
}
