import { toDollars } from "@agent/budget";
import type { Inspection } from "@agent/wire";
import type { InspectionRow } from "../../storage/tables/inspections.ts";
import { parseTerms } from "../terms.ts";

type JsonObject = Record<string, unknown>;

/** Builds the view of an inspection that its parties and its arbiter get. */
export function toInspectionView(row: InspectionRow): Inspection {
  return {
    task_id: row.task_id,
    agent_id: row.agent_id,
    submitter_id: row.submitter_id,
    executor_id: row.executor_id,
    receipt_hash: row.receipt_hash,
    state: row.state,
    terms: parseTerms(row),
    due: toDollars(row.due),
    fee: toDollars(row.fee),
    arbiter_id: row.arbiter_id,
    deadline: row.deadline,
    verdicts: JSON.parse(row.verdicts) as JsonObject[],
    decision: row.decision === null ? null : (JSON.parse(row.decision) as JsonObject),
    outcome: row.outcome === null ? null : (JSON.parse(row.outcome) as Inspection["outcome"]),
  };
}
