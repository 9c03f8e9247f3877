import { RECEIPT_LIMITS } from "@agent/receipts";
import type { EvidenceBundle } from "../schema.ts";
import type { BundleInspection } from "./schema.ts";

/**
 * Returns whether a state that ended without a statement ended too early. A freeze or a restart of the
 * relay can only postpone a deadline, so at least the length of the state must have passed. A statement may
 * have been signed five minutes before or after it arrived; without one, both times are by the relay's own
 * clock.
 */
export function isEndedEarly(
  { attestation }: Pick<EvidenceBundle, "attestation">,
  { terms, verdicts, outcome }: BundleInspection,
): boolean {
  if (outcome === null) return false;
  const lengthMs = getSilentLength(outcome.outcome, terms);
  if (lengthMs === undefined) return false;
  const last = verdicts.at(-1);
  const earliestBegin =
    last === undefined ? attestation.received_at : last.timestamp - RECEIPT_LIMITS.statementSkewMs;
  return outcome.closed_at < earliestBegin + lengthMs;
}

function getSilentLength(outcome: string, terms: BundleInspection["terms"]): number | undefined {
  if (outcome === "lapsed") return terms.window_ms;
  if (outcome === "unanswered") return terms.answer_ms;
  return outcome === "undecided" ? terms.decision_ms : undefined;
}
