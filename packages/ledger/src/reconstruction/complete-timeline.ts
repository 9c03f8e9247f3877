import type { LedgerEvent } from "../events.ts";
import { listMissingPlanEvents } from "../coverage/missing-plan-events.ts";
import { listMissingDelegations } from "../coverage/missing-step-events.ts";
import { assignStepIds } from "./assign-step-ids.ts";
import { getNewestSteps } from "./get-newest-steps.ts";
import type { GoalRecords } from "../records.ts";
import { buildStepHistories } from "./step-history.ts";
import { sortByTime } from "../checks/timeline-order.ts";

/** Returns the events of a log, completed by the missing events that plans and tasks imply. */
export function completeTimeline(
  log: readonly LedgerEvent[],
  { plans, tasks }: Pick<GoalRecords, "plans" | "tasks">,
): LedgerEvent[] {
  const { histories } = buildStepHistories(log);
  const newestStepsById = getNewestSteps(plans);
  const tasksOf = Map.groupBy(tasks, ({ step_id }) => step_id);
  const missing = plans.flatMap((plan) => {
    const facts = plan.steps
      .filter((step) => newestStepsById.get(step.step_id) === step)
      .map((step) => ({
        step,
        history: histories.get(step.step_id),
        tasks: tasksOf.get(step.step_id) ?? [],
        createdAt: plan.created_at,
      }));
    return listMissingPlanEvents(plan, facts, log);
  });
  for (const [stepId, delegated] of tasksOf) {
    if (!stepId || newestStepsById.has(stepId)) continue;
    missing.push(...listMissingDelegations(stepId, histories.get(stepId), delegated));
  }

  // Among events of the same millisecond, a start comes before those of the log and an end after
  // them.
  const { beginnings = [], others = [] } = Object.groupBy(missing, ({ type }) =>
    type === "plan_created" || type === "step_started" ? "beginnings" : "others",
  );
  return assignStepIds(removeUnassigned(sortByTime([...beginnings, ...log, ...others])));
}

/** An event that ends no step is left out, because verifiers would report it as a contradiction. */
function removeUnassigned(timeline: readonly LedgerEvent[]): LedgerEvent[] {
  const unassigned = new Set(buildStepHistories(timeline).unassigned);
  return timeline.filter((_, index) => !unassigned.has(index));
}
