import type { PlanRecord } from "../records.ts";
import type { LedgerStep } from "../schema.ts";

/**
 * Returns the steps of all plans by id; if several plans have a step with the same id, that of the newest
 * plan.
 */
export function getNewestSteps(plans: readonly PlanRecord[]): ReadonlyMap<string, LedgerStep> {
  return new Map(plans.flatMap(({ steps }) => steps.map((step) => [step.step_id, step])));
}
