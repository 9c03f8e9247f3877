import { canonicalize, sha256Hex } from "@agent/crypto";
import type { LedgerEvent } from "../events.ts";
import { mapInSteps, runSteps, type Steps } from "../map-in-steps.ts";

/**
 * Returns the SHA-256, in lower-case hex, of the events' canonical JSON texts joined with newlines
 * (specification, Execution ledger). Throws CanonicalJsonError on an event that has no canonical
 * JSON.
 */
export function hashTimeline(timeline: readonly LedgerEvent[]): string {
  return runSteps(hashTimelineInSteps(timeline));
}

/** Hashes like `hashTimeline`, in steps of a few milliseconds. */
export function* hashTimelineInSteps(timeline: readonly LedgerEvent[]): Steps<string> {
  const texts = yield* mapInSteps(timeline, (event) => canonicalize(event));
  // The separator is unambiguous because canonical JSON escapes every newline inside an event.
  return sha256Hex(texts.join("\n"));
}
