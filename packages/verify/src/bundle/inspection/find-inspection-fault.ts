import type { ArtifactRefusal } from "../../refusals.ts";
import type { EvidenceBundle } from "../schema.ts";
import type { NarrowKeys } from "../try-limit.ts";
import { findMoneyFault } from "./find-money-fault.ts";
import { findStatementFault } from "./find-statement-fault.ts";
import { isEndedEarly } from "./is-ended-early.ts";
import { replayInspection } from "./replay-inspection.ts";

/** A rejection, its contest and the statement of the party that gives up; more would only cost time. */
const MAX_VERDICTS = 3;

/** Returns the code of the first rule of an inspection that a bundle breaks; undefined if it breaks none. */
export function findInspectionFault(
  bundle: EvidenceBundle,
  relayKeys: readonly string[],
  narrow: NarrowKeys,
): ArtifactRefusal | undefined {
  const { inspection, settlements, relay_id, task, receipt } = bundle;
  if (inspection === undefined) {
    // A record that names an outcome belongs to an inspection, which must be in the bundle.
    const isInspected = settlements.some(({ outcome_hash }) => outcome_hash !== undefined);
    return isInspected ? "bundle.inspection_mismatch" : undefined;
  }
  const { verdicts, terms } = inspection;
  const parties = [task.agent_id, task.submitted_by, receipt.agent_id];
  // A relay lets no party be the arbiter of its own case.
  if (verdicts.length > MAX_VERDICTS || parties.includes(terms.arbiter_id)) {
    return "bundle.inspection_mismatch";
  }
  const statementFault = findStatementFault(bundle, inspection, relayKeys, narrow);
  if (statementFault !== undefined) return statementFault;
  const replayed = replayInspection(inspection, relay_id);
  if (replayed === undefined || isEndedEarly(bundle, inspection)) {
    return "bundle.inspection_mismatch";
  }
  return findMoneyFault(bundle, inspection, replayed.outcome);
}
