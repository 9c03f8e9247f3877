import { canonicalize } from "@agent/crypto";
import type { LedgerEvent } from "../events.ts";

/**
 * Whether a timeline holds all events of an older one, unchanged and in front: a signed timeline is
 * only ever added to (specification, Ledger timeline event types). One extends itself.
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
