import type { PlanRecord } from "../records.ts";
import type { LedgerStep } from "../schema.ts";

/** The steps of all plans by id; of one that several plans tell of, the newest plan's. */
export function getNewestSteps(plans: readonly PlanRecord[]): ReadonlyMap<string, LedgerStep> {
  return new Map(plans.flatMap(({ steps }) => steps.map((step) => [step.step_id, step])));
}
