import type { Ledger } from "../schema.ts";

/**
 * How many of a ledger's steps are completed, for a partial settlement (specification, Settlement
 * outcome). No signature covers `steps`: count those of which `crossCheckSteps` finds nothing.
 */
export function countSteps({ steps }: Pick<Ledger, "steps">): {
  readonly completed: number;
  readonly total: number;
} {
  const completed = steps.filter(({ status }) => status === "completed").length;
  return { completed, total: steps.length };
}
