import {
  decideInspection,
  expireInspection,
  type Inspection,
  type InspectionEvent,
  openInspection,
  toMillionths,
} from "@agent/budget";
import type { VerdictRecord } from "@agent/receipts";
import type { BundleInspection } from "./schema.ts";

/**
 * Replays an inspection from its statements; undefined if they do not lead to the state and the outcome that the
 * relay states. Deadlines cannot be replayed, because a freeze or a restart of the relay moves them. So an inspection
 * that was closed without a further statement is assumed to have run out of time; `isEndedEarly` checks the minimum
 * time.
 */
export function replayInspection(
  { state, terms, verdicts, decision, outcome }: BundleInspection,
  relayId: string,
): Inspection | undefined {
  const lengths = {
    windowMs: terms.window_ms,
    answerMs: terms.answer_ms,
    decisionMs: terms.decision_ms,
  };
  const arbiter = decision === null || decision.arbiter_id === relayId ? "operator" : "agent";
  const events = verdicts.map((statement) => toEvent(statement, arbiter));
  if (decision !== null) {
    events.push({ type: "decided", share: toMillionths(decision.share), by: arbiter });
  }
  let inspection = openInspection(lengths, 0);
  for (const event of events) {
    const answer = decideInspection(inspection, event, lengths, 0);
    if (!answer.ok) return undefined;
    ({ inspection } = answer);
  }
  if (state === "closed") {
    inspection = expireInspection(inspection, lengths, Number.MAX_SAFE_INTEGER);
  }
  const isStated =
    inspection.state === state &&
    inspection.outcome?.result === outcome?.outcome &&
    inspection.outcome?.share === (outcome === null ? undefined : toMillionths(outcome.share));
  return isStated ? inspection : undefined;
}

function toEvent(
  { verdict, offer = 0 }: VerdictRecord,
  arbiter: "agent" | "operator",
): InspectionEvent {
  if (verdict === "rejected") return { type: verdict, offer: toMillionths(offer) };
  if (verdict === "contested") return { type: verdict, arbiter };
  return { type: verdict };
}
