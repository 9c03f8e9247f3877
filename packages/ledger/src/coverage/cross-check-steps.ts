import type { Contradiction, StepContradiction } from "../refusals.ts";
import type { Ledger, LedgerStep } from "../schema.ts";
import { hasRun } from "../statuses.ts";
import { buildStepHistories, type StepHistory } from "../reconstruction/step-history.ts";

/**
 * Lists the differences between `steps`, which are unsigned, and the signed timeline. If the timeline
 * records steps, it must record every step that ran; if it records none, nothing contradicts it.
 * Descriptions are not compared.
 */
export function crossCheckSteps(ledger: Ledger): Contradiction<StepContradiction>[] {
  const { steps, timeline } = ledger;
  const { histories, unassigned } = buildStepHistories(timeline);
  const found: Contradiction<StepContradiction>[] = [];
  const report = (code: StepContradiction, path: string) => found.push({ code, path });

  for (const index of unassigned) report("ledger.event_without_step", `timeline.${index}`);
  const listed = new Set<string>();
  for (const [index, step] of steps.entries()) {
    const path = `steps.${index}`;
    if (listed.has(step.step_id)) report("ledger.step_repeated", `${path}.step_id`);
    listed.add(step.step_id);
    const history = histories.get(step.step_id);
    if (history !== undefined) {
      for (const [code, member] of listDifferences(step, history))
        report(code, `${path}.${member}`);
    } else if (histories.size > 0 && hasRun(step.status)) {
      report("ledger.step_unrecorded", `${path}.status`);
    }
  }
  for (const [stepId, { firstIndex }] of histories) {
    if (!listed.has(stepId)) report("ledger.step_unlisted", `timeline.${firstIndex}`);
  }
  const plan = timeline.findLast((event) => event.type === "plan_created");
  // More steps than the plan has are not a contradiction, because a goal may have had several plans.
  if (plan !== undefined && listed.size < plan.payload.total_steps) {
    report("ledger.step_missing", "steps");
  }
  return found;
}

/** Returns whether some steps are listed as begun although the timeline records none. */
export function hasUnrecordedSteps({ steps, timeline }: Ledger): boolean {
  return (
    steps.some(({ status }) => hasRun(status)) && buildStepHistories(timeline).histories.size === 0
  );
}

function* listDifferences(
  step: LedgerStep,
  history: StepHistory,
): Iterable<[code: StepContradiction, member: keyof LedgerStep]> {
  if (step.status !== history.status) yield ["ledger.step_status_mismatch", "status"];
  if (history.started !== undefined && step.ordinal !== history.started.payload.ordinal) {
    yield ["ledger.step_ordinal_mismatch", "ordinal"];
  }
  const listedTools = new Set(step.tools_used);
  if (![...history.tools].every((tool) => listedTools.has(tool))) {
    yield ["ledger.step_tools_mismatch", "tools_used"];
  }
  if (!matchesCallCount(step.tool_calls, history)) {
    yield ["ledger.step_tool_calls_mismatch", "tool_calls"];
  }
  if (step.delegation !== undefined && history.tasks.size === 0) {
    yield ["ledger.step_delegation_mismatch", "delegation"];
  }
}

/** Calls may be missing while a step runs; the event of its completion has their number. */
function matchesCallCount(toolCalls: number, { calls, callsMade }: StepHistory): boolean {
  return callsMade === undefined ? toolCalls >= calls : toolCalls === Math.max(calls, callsMade);
}
