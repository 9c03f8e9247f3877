import type { DecisionRecord, OutcomeRecord, VerdictRecord } from "@agent/receipts";
import type { BundleInspection } from "@agent/verify";
import { toDollars } from "@agent/budget";
import { loadPostings } from "../../budget/accounts/task-money.ts";
import type { PostedRow } from "../../budget/post-movement.ts";
import type { RelayIdentity } from "../../identity/relay-identity.ts";
import type { Reader } from "../../storage/storage.ts";
import { findInspection } from "../store.ts";
import { parseTerms } from "../terms.ts";

/** The inspection of a task in its evidence, and the agents whose keys signed its statements. */
export interface InspectionEvidence {
  readonly inspection: BundleInspection;
  readonly speakers: readonly string[];
}

/** Loads the inspection of a task for its evidence; undefined if it has none. */
export async function loadInspectionEvidence(
  read: Reader,
  { relayId }: Pick<RelayIdentity, "relayId">,
  taskId: string,
): Promise<InspectionEvidence | undefined> {
  const row = await findInspection(read, taskId);
  if (row === undefined) return undefined;
  const { state, due, fee, verdicts, decision, outcome, postings } = row;
  const terms = parseTerms(row);
  const speakers = [row.submitter_id, terms.arbiter_id].filter((id) => id !== relayId);
  return {
    inspection: {
      state,
      terms,
      due: toDollars(due),
      fee: toDollars(fee),
      verdicts: JSON.parse(verdicts) as VerdictRecord[],
      decision: decision === null ? null : (JSON.parse(decision) as DecisionRecord),
      outcome: outcome === null ? null : (JSON.parse(outcome) as OutcomeRecord),
      postings: await loadPostings(read, JSON.parse(postings) as PostedRow[]),
    },
    speakers,
  };
}
