import { asMicro, divideHalfUp, assertNotNegative, saturatingSum, type Micro } from "./money.ts";

/**
 * What is set aside for a task, in micro-units: `min(estimate × (1 + riskFactor × 0.2),
 * available)`, rounded half up. `null` when that is below the estimate: no allocation, no
 * delegation (specification, "Allocation and settlement record").
 */
export function computeLockAmount({
  estimate,
  riskFactor = 1,
  available,
}: {
  readonly estimate: Micro;
  readonly riskFactor?: number;
  readonly available: Micro;
}): Micro | null {
  const { numerator, denominator } = parseFraction(riskFactor);
  if (available < assertNotNegative(estimate)) return null;
  // With riskFactor = n/d the buffered estimate is estimate × (5d + n) / 5d.
  const whole = 5n * denominator;
  const buffered = divideHalfUp(BigInt(estimate) * (whole + numerator), whole);
  return buffered < BigInt(available) ? asMicro(Number(buffered)) : available;
}

/**
 * One step of a plan: who does it and what that one task costs, in micro-units (see
 * `estimateCost`).
 */
export interface PlanStep {
  readonly agentId: string;
  readonly cost: Micro;
}

/** One participant's share of a plan: its steps and their cost together, in micro-units. */
export interface PlanAllocation<Step extends PlanStep = PlanStep> {
  readonly agentId: string;
  readonly steps: readonly Step[];
  readonly amount: Micro;
}

/**
 * One allocation per participant of a plan, by its assigned steps at their price per task, in order
 * of first appearance; none at all when the total exceeds the budget (specification, "Market").
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

/** The decimal that a number is written as, as a fraction of two integers. */
function parseFraction(value: number): {
  readonly numerator: bigint;
  readonly denominator: bigint;
} {
  if (!Number.isFinite(value) || value < 0) {
    throw new RangeError("a risk factor must be a finite number from 0");
  }
  const [digits = "", exponent = "0"] = String(value).split("e");
  const [whole = "", decimals = ""] = digits.split(".");
  const places = decimals.length - Number(exponent);
  return {
    numerator: BigInt(whole + decimals) * 10n ** BigInt(Math.max(0, -places)),
    denominator: 10n ** BigInt(Math.max(0, places)),
  };
}
