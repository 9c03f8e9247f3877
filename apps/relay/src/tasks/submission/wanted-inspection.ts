import { asMicro, type ArbitrationRate, type Micro } from "@agent/budget";
import type { SubmitTaskBody } from "@agent/wire";
import { computeLeastHold } from "../../budget/reserve-hold.ts";
import { acceptTerms } from "../../inspections/acceptance/accept-terms.ts";
import { listAgentsOfKeys } from "../../inspections/acceptance/check-arbiter.ts";
import { isOffered } from "../../inspections/acceptance/offer.ts";
import { readWantedTerms } from "../../inspections/acceptance/read-wanted.ts";
import { toArbitrationRate } from "../../inspections/terms.ts";
import type { Attempt } from "../../routing/attempt.ts";
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

/** Leaves out executors that do not offer the inspection, its arbiter, and agents with a key of the arbiter. */
export async function filterExecutors(
  { storage, trustGraph }: ExecutorServices,
  wanted: WantedInspection | undefined,
  leftOut: readonly string[],
): Promise<Pick<ExecutorRequest, "leftOut" | "accepts">> {
  if (wanted === undefined) return { leftOut };
  const { terms } = wanted;
  const { arbiterId } = terms;
  const biased = arbiterId === null ? [] : await listAgentsOfKeys(storage.read, arbiterId);
  return {
    leftOut: [...leftOut, ...biased],
    accepts: ({ agent_id, acceptance }) =>
      isOffered(acceptance, terms) &&
      (arbiterId === null || !trustGraph.isBlocked(agent_id, arbiterId)),
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

/** Returns the least hold for an executor: its price, and for an inspected task the arbitration fee. */
export function getLeastHold(
  { charge }: Pick<Attempt, "charge">,
  acceptance: TaskAcceptance | undefined,
): Micro {
  return computeLeastHold({ charge: asMicro(charge), arbitration: toArbitration(acceptance) });
}

/** Returns how the arbitration fee of a task is computed; undefined for a task without an inspection. */
export function toArbitration(acceptance: TaskAcceptance | undefined): ArbitrationRate | undefined {
  return acceptance && toArbitrationRate(acceptance.acceptance);
}
