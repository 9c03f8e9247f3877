import type { Ledger } from "../schema.ts";

/**
 * Counts the completed steps of a ledger, for a partial settlement (specification, Settlement
 * outcome). No signature covers `steps`, so callers must use `crossCheckSteps` first.
 */
export function countSteps({ steps }: Pick<Ledger, "steps">): {
  readonly completed: number;
  readonly total: number;
} {
  const completed = steps.filter(({ status }) => status === "completed").length;
  return { completed, total: steps.length };
}
