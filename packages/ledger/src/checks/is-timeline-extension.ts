import { canonicalize } from "@agent/crypto";
import type { LedgerEvent } from "../events.ts";

/**
 * Returns whether a timeline begins with all events of an older one, unchanged, because events may
 * only be appended to a signed timeline (specification, Ledger timeline event types). A timeline
 * extends itself.
 */
export function isTimelineExtension(
  newer: readonly LedgerEvent[],
  older: readonly LedgerEvent[],
): boolean {
  return (
    newer.length >= older.length &&
    older.every((event, index) => canonicalize(event) === canonicalize(newer[index]))
  );
}
