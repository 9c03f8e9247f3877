import type { LedgerEvent } from "./events.ts";
import { missingOfPlan } from "./missing-of-plan.ts";
import { missingDelegations } from "./missing-of-step.ts";
import { nameSteps } from "./name-steps.ts";
import { newestSteps } from "./newest-steps.ts";
import type { GoalRecords } from "./records.ts";
import { readSteps } from "./step-history.ts";
import { inOrder } from "./timeline-order.ts";

/** The events of a log and those that it lacks though plans and tasks imply them. */
export function fillIn(
  log: readonly LedgerEvent[],
  { plans, tasks }: Pick<GoalRecords, "plans" | "tasks">,
): LedgerEvent[] {
  const { histories } = readSteps(log);
  const newest = newestSteps(plans);
  const tasksOf = Map.groupBy(tasks, ({ step_id }) => step_id);
  const missing = plans.flatMap((plan) => {
    const facts = plan.steps
      .filter((step) => newest.get(step.step_id) === step)
      .map((step) => ({
        step,
        history: histories.get(step.step_id),
        tasks: tasksOf.get(step.step_id) ?? [],
        createdAt: plan.created_at,
      }));
    return missingOfPlan(plan, facts, log);
  });
  for (const [stepId, delegated] of tasksOf) {
    if (!stepId || newest.has(stepId)) continue;
    missing.push(...missingDelegations(stepId, histories.get(stepId), delegated));
  }

  // Of events of one millisecond a beginning stands before those of the log, an end behind them.
  const { beginnings = [], others = [] } = Object.groupBy(missing, ({ type }) =>
    type === "plan_created" || type === "step_started" ? "beginnings" : "others",
  );
  return nameSteps(withoutStrays(inOrder([...beginnings, ...log, ...others])));
}

/** What ends no step says nothing, and a reader would take it for a contradiction. */
function withoutStrays(timeline: readonly LedgerEvent[]): LedgerEvent[] {
  const strays = new Set(readSteps(timeline).strays);
  return timeline.filter((_, index) => !strays.has(index));
}
