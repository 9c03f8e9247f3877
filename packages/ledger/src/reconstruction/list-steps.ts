import { canonicalize, sha256Hex } from "@agent/crypto";
import type { LedgerEvent } from "../events.ts";
import { getNewestSteps } from "./get-newest-steps.ts";
import type { DelegatedTask, GoalRecords } from "../records.ts";
import type { LedgerStep } from "../schema.ts";
import { hasEnded, buildStepHistories, type StepHistory } from "./step-history.ts";

/** Lists the steps of all plans and of the timeline, which takes precedence. */
export function listSteps(
  timeline: readonly LedgerEvent[],
  { plans, tasks }: Pick<GoalRecords, "plans" | "tasks">,
): LedgerStep[] {
  const { histories } = buildStepHistories(timeline);
  const planned = getNewestSteps(plans);
  const hashes = mapReceiptHashes(tasks);
  return [...new Set([...planned.keys(), ...histories.keys()])].map((step_id, index) => {
    const step = createStep(planned.get(step_id) ?? { step_id, ordinal: index });
    const history = histories.get(step_id);
    if (history === undefined) return step;
    const receipt_hash = hashes.get(step_id) ?? planned.get(step_id)?.delegation?.receipt_hash;
    const isDelegated = receipt_hash !== undefined && history.tasks.size > 0;
    return { ...applyHistory(step, history), ...(isDelegated && { delegation: { receipt_hash } }) };
  });
}

function mapReceiptHashes(tasks: readonly DelegatedTask[]): ReadonlyMap<string, string> {
  const hashes = new Map<string, string>();
  for (const { step_id, receipt, receipt_hash } of tasks) {
    if (step_id && receipt) {
      hashes.set(step_id, receipt_hash ?? sha256Hex(canonicalize(receipt)));
    }
  }
  return hashes;
}

/** Copies the members one by one, because a record has members that a ledger must not contain. */
function createStep({
  step_id,
  ordinal,
  description = "",
  status = "running",
  tools_used = [],
  tool_calls = 0,
  started_at = null,
  completed_at = null,
}: Pick<LedgerStep, "step_id" | "ordinal"> & Partial<LedgerStep>): LedgerStep {
  return {
    step_id,
    ordinal,
    description,
    status,
    tools_used,
    tool_calls,
    started_at,
    completed_at,
  };
}

function applyHistory(step: LedgerStep, history: StepHistory): LedgerStep {
  const { started, calls, callsMade, tools, status } = history;
  return {
    ...step,
    ordinal: started?.payload.ordinal ?? step.ordinal,
    description: step.description || (started?.payload.description ?? ""),
    status,
    tools_used: [...new Set([...step.tools_used, ...tools])],
    tool_calls: Math.max(calls, callsMade ?? step.tool_calls),
    started_at: step.started_at ?? history.firstAt,
    completed_at: step.completed_at ?? (hasEnded(history) ? history.lastAt : null),
  };
}
