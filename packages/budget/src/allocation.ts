import { asMicro, divideHalfUp, assertNotNegative, saturatingSum, type Micro } from "./money.ts";

/**
 * Computes the amount to hold for a task, in micro-units: `min(estimate × (1 + riskFactor × 0.2),
 * available)`, rounded half up; null if that is below the estimate, so that the task is refused
 * (specification, "Allocation and settlement record").
 */
export function computeLockAmount({
  estimate,
  riskFactor = 1,
  available,
}: {
  readonly estimate: Micro;
  readonly riskFactor?: number | undefined;
  readonly available: Micro;
}): Micro | null {
  const { numerator, denominator } = parseFraction(riskFactor);
  if (available < assertNotNegative(estimate)) return null;
  // With riskFactor = n/d the buffered estimate is estimate × (5d + n) / 5d.
  const whole = 5n * denominator;
  const buffered = divideHalfUp(BigInt(estimate) * (whole + numerator), whole);
  return buffered < BigInt(available) ? asMicro(Number(buffered)) : available;
}

/** One step of a plan with its agent and the price of its task, in micro-units (see `estimateCost`). */
export interface PlanStep {
  readonly agentId: string;
  readonly cost: Micro;
}

/** One agent's share of a plan: its steps and their total cost, in micro-units. */
export interface PlanAllocation<Step extends PlanStep = PlanStep> {
  readonly agentId: string;
  readonly steps: readonly Step[];
  readonly amount: Micro;
}

/**
 * Allocates a plan to its agents by their assigned steps at the price per task, in order of first
 * appearance; returns no allocation if the total exceeds the budget (specification, "Market").
 */
export function allocatePlan<Step extends PlanStep>({
  steps,
  budget,
}: {
  readonly steps: readonly Step[];
  readonly budget: Micro;
}): readonly PlanAllocation<Step>[] {
  if (saturatingSum(steps.map(({ cost }) => cost)) > budget) return [];
  return [...Map.groupBy(steps, ({ agentId }) => agentId)].map(([agentId, agentSteps]) => ({
    agentId,
    steps: agentSteps,
    amount: saturatingSum(agentSteps.map(({ cost }) => cost)),
  }));
}

/** Parses the decimal text of a number as a fraction of two integers. */
function parseFraction(value: number): {
  readonly numerator: bigint;
  readonly denominator: bigint;
} {
  if (!Number.isFinite(value) || value < 0) {
    throw new RangeError("riskFactor must be a finite number of at least 0");
  }
  const [digits = "", exponent = "0"] = String(value).split("e");
  const [whole = "", decimals = ""] = digits.split(".");
  const places = decimals.length - Number(exponent);
  return {
    numerator: BigInt(whole + decimals) * 10n ** BigInt(Math.max(0, -places)),
    denominator: 10n ** BigInt(Math.max(0, places)),
  };
}
