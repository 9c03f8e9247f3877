import { RECEIPT_LIMITS } from "@agent/receipts";
import type { EvidenceBundle } from "../schema.ts";
import type { BundleInspection } from "./schema.ts";

/**
 * Returns whether a silence ended a state before its time. A freeze and a restart of the relay only move a
 * deadline to later, so the length of the state is the least that must have passed; a word may have been
 * signed five minutes before or after it arrived.
 */
export function isEndedEarly(
  { attestation }: Pick<EvidenceBundle, "attestation">,
  { terms, verdicts, outcome }: BundleInspection,
): boolean {
  if (outcome === null) return false;
  const lengthMs = getSilentLength(outcome.outcome, terms);
  if (lengthMs === undefined) return false;
  const beganAt = verdicts.at(-1)?.timestamp ?? attestation.received_at;
  return outcome.closed_at < beganAt + lengthMs - RECEIPT_LIMITS.wordSkewMs;
}

function getSilentLength(outcome: string, terms: BundleInspection["terms"]): number | undefined {
  if (outcome === "lapsed") return terms.window_ms;
  if (outcome === "unanswered") return terms.answer_ms;
  return outcome === "undecided" ? terms.decision_ms : undefined;
}
