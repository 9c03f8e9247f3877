import { toMicro, type ArbitrationRate, type Micro } from "@agent/budget";
import type { SubmitTaskBody } from "@agent/wire";
import { computeLeastHold } from "../../budget/reserve-hold.ts";
import { acceptTerms } from "../../inspections/acceptance/accept-terms.ts";
import { createOfferFilter } from "../../inspections/acceptance/offer-filter.ts";
import { readWantedTerms } from "../../inspections/acceptance/read-wanted.ts";
import { toArbitrationRate } from "../../inspections/terms.ts";
import type { Attempt } from "../../routing/attempt.ts";
import type { AgentFacts } from "../../routing/candidates/agent-facts.ts";
import { quoteAgent } from "../../routing/candidates/build-candidate.ts";
import type { ExecutorServices } from "../../routing/rank-executors.ts";
import type { ExecutorRequest } from "../../routing/select-executors.ts";
import type { TaskAcceptance } from "../task-view.ts";

/** An inspection that a submitter with a key may ask for. */
export type WantedInspection = Extract<
  Awaited<ReturnType<typeof readWantedTerms>>,
  { readonly ok: true }
>;

interface WantingSubmission {
  readonly targetId: string;
  readonly body: Pick<SubmitTaskBody, "acceptance">;
  readonly submitterId: string | null;
}

/** Reads the inspection that a submission asks for; undefined if it asks for none. */
export async function readWanted(
  services: ExecutorServices,
  { targetId, body: { acceptance: wanted }, submitterId }: WantingSubmission,
) {
  return wanted && readWantedTerms(services, { wanted, submitterId, targetId });
}

/** Executors that an earlier ranking of the same submission showed not to fit. */
export interface UnfitExecutors extends Pick<ExecutorRequest, "leftOut"> {
  /** Those that no longer offer the inspection, or have as much open as they offer. */
  readonly withdrawn: readonly string[];
}

/**
 * Filters out executors that do not offer the inspection, its arbiter, agents about which the arbiter must
 * not decide, and those whose price does not allow it. Once one executor was full, all full ones are left out,
 * because a few dozen of them would otherwise hide the others.
 */
export async function filterExecutors(
  services: ExecutorServices,
  wanted: WantedInspection | undefined,
  { leftOut, withdrawn, body }: UnfitExecutors & { readonly body: SubmitTaskBody },
): Promise<Pick<ExecutorRequest, "leftOut" | "accepts">> {
  if (wanted === undefined) return { leftOut };
  const { biased, accepts } = await createOfferFilter<AgentFacts>(services, wanted.terms, {
    withRoom: withdrawn.length > 0,
    isPriceFit: createPriceFilter(services, body),
  });
  return { leftOut: [...leftOut, ...withdrawn, ...biased], accepts };
}

/**
 * Accepts a price that the submission's `max_budget` covers together with the arbitration fee. Free work has
 * no inspection, so an agent that offers it would only displace those whose work can be inspected.
 */
function createPriceFilter(
  { config }: Pick<ExecutorServices, "config">,
  { required_capabilities: required = [], max_budget: budget }: SubmitTaskBody,
): (facts: AgentFacts) => boolean {
  const { feeRate, feeMin } = config.disputes;
  const arbitration = { feeRate, feeMin: toMicro(feeMin) };
  const maxBudget = budget === undefined ? Infinity : toMicro(budget);
  return (facts) => {
    const charge = quoteAgent(facts, required);
    return charge !== null && charge > 0 && computeLeastHold({ charge, arbitration }) <= maxBudget;
  };
}

interface SelectedExecutors {
  readonly targetId: string;
  readonly attempts: readonly [Attempt, ...Attempt[]];
}

/** Fixes the terms of a wanted inspection; without one all executors stay. */
export async function acceptWanted(
  services: ExecutorServices,
  wanted: WantedInspection | undefined,
  selected: SelectedExecutors,
) {
  if (wanted !== undefined) {
    const { terms, submitterId } = wanted;
    return acceptTerms(services, terms, { ...selected, submitterId });
  }
  return { ok: true as const, attempts: selected.attempts, acceptance: undefined };
}

/** Returns the minimum hold for an executor: its price, plus the arbitration fee for an inspected task. */
export function getLeastHold(
  { charge }: Pick<Attempt, "charge">,
  acceptance: TaskAcceptance | undefined,
): Micro {
  return computeLeastHold({ charge, arbitration: toArbitration(acceptance) });
}

/** Returns how the arbitration fee of a task is computed; undefined for a task without an inspection. */
export function toArbitration(acceptance: TaskAcceptance | undefined): ArbitrationRate | undefined {
  return acceptance && toArbitrationRate(acceptance.acceptance);
}
