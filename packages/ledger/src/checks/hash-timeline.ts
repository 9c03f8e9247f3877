import { canonicalize, sha256Hex } from "@agent/crypto";
import type { LedgerEvent } from "../events.ts";

/**
 * Returns the SHA-256, in lower-case hex, of the events' canonical JSON texts joined with newlines
 * (specification, Execution ledger). Throws CanonicalJsonError on an event that has no canonical
 * JSON.
 */
export function hashTimeline(timeline: readonly LedgerEvent[]): string {
  // The separator is unambiguous because canonical JSON escapes every newline inside an event.
  return sha256Hex(timeline.map((event) => canonicalize(event)).join("\n"));
}
