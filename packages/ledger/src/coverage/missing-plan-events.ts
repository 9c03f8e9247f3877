import type { LedgerEvent } from "../events.ts";
import { listMissingStepEvents, type StepFacts } from "./missing-step-events.ts";
import type { PlanRecord } from "../records.ts";

/** Lists the creation, step and end events of a plan that are missing from the log. */
export function listMissingPlanEvents(
  { plan_id, title, status, created_at, steps }: PlanRecord,
  facts: readonly StepFacts[],
  log: readonly LedgerEvent[],
): LedgerEvent[] {
  const events = facts.flatMap(listMissingStepEvents);
  const times = [created_at, ...events.map(({ timestamp }) => timestamp)];
  for (const { history } of facts) {
    if (history !== undefined) times.push(history.firstAt, history.lastAt);
  }

  const isRecorded = log.some(
    ({ type, payload }) => type === "plan_created" && payload.plan_id === plan_id,
  );
  if (!isRecorded) {
    const payload = { plan_id, title, total_steps: steps.length };
    events.unshift({ timestamp: Math.min(...times), type: "plan_created", payload });
  }
  // The event of a plan's end does not name the plan.
  if (log.some(({ type }) => type === "plan_completed" || type === "plan_failed")) return events;
  const timestamp = Math.max(...times);
  if (status === "completed") events.push({ timestamp, type: "plan_completed", payload: {} });
  if (status === "failed") {
    events.push({ timestamp, type: "plan_failed", payload: { reason: "not recorded" } });
  }
  return events;
}
