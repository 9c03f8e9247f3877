import type { LedgerEvent } from "../events.ts";

/** Whether no event is older than the one in front of it. */
export function isSortedByTime(timeline: readonly LedgerEvent[]): boolean {
  let latest = -Infinity;
  for (const { timestamp } of timeline) {
    if (timestamp < latest) return false;
    latest = timestamp;
  }
  return true;
}

/** The events by time; those of one millisecond stay as they were. */
export function sortByTime(events: readonly LedgerEvent[]): LedgerEvent[] {
  return events.toSorted((left, right) => left.timestamp - right.timestamp);
}
