import { refuse, type AcceptanceTerms, type Refusal } from "@agent/wire";
import type { Attempt } from "../../routing/attempt.ts";
import type { Services } from "../../services.ts";
import type { Reader } from "../../storage/storage.ts";
import type { TaskAcceptance } from "../../tasks/task-view.ts";
import { loadAgentInspections } from "../reading/agent-inspections.ts";
import { mayArbitrate } from "./may-arbitrate.ts";
import { checkSubmitter } from "./check-submitter.ts";
import { findOffer, hasRoom } from "./find-offer.ts";
import { toRelayTerms } from "../terms.ts";
import { isOffered, isWindowOffered, type WantedTerms } from "./offer.ts";

type AcceptServices = Pick<Services, "storage" | "runtime" | "config" | "identity" | "trustGraph">;

/** A submission with the executors that routing chose for it. */
interface ChosenExecutors {
  readonly submitterId: string;
  readonly targetId: string;
  readonly attempts: readonly [Attempt, ...Attempt[]];
}

/** The terms of a task, and the executors that offer them. */
export interface AcceptedTerms {
  readonly ok: true;
  readonly attempts: readonly [Attempt, ...Attempt[]];
  readonly acceptance: TaskAcceptance;
}

export type AcceptanceRefusal =
  | "acceptance.not_offered"
  | "acceptance.free_task"
  | "acceptance.arbiter_invalid"
  | "acceptance.suspended"
  | "dispute.too_many";

/**
 * Checks that the first executor offers the inspection that a submission requests, and fixes its terms.
 * Later executors that do not offer these terms are left out.
 */
export async function acceptTerms(
  services: AcceptServices,
  wanted: WantedTerms,
  { submitterId, targetId, attempts }: ChosenExecutors,
): Promise<AcceptedTerms | Refusal<AcceptanceRefusal>> {
  const { read } = services.storage;
  const now = services.runtime.now();
  const [first, ...others] = attempts;
  const offered = await findOffer(read, first);
  if (!isWindowOffered(offered, wanted) || first.agent_id === submitterId) {
    return refuse("acceptance.not_offered");
  }
  if (first.charge === 0) return refuse("acceptance.free_task");
  const isArbiterValid = (executorId: string) =>
    mayDecide(services, wanted, { submitterId, targetId, executorId });
  if (!isOffered(offered, wanted) || !(await isArbiterValid(first.agent_id))) {
    return refuse("acceptance.arbiter_invalid");
  }
  const refused = await checkSubmitter(read, submitterId, now);
  if (refused !== undefined) return refused;
  const windowMs = wanted.windowMs ?? offered.window_ms;
  const terms = { ...wanted, windowMs };
  const fallbacks: Attempt[] = [];
  for (const other of others) {
    const isAccepted =
      isOffered(await findOffer(read, other), terms) && (await isArbiterValid(other.agent_id));
    if (isAccepted) fallbacks.push(other);
  }
  return {
    ok: true,
    attempts: [first, ...fallbacks],
    acceptance: {
      acceptance: buildTerms(services, terms),
      submitter_inspections: (await loadAgentInspections(read, submitterId)).as_delegator,
    },
  };
}

function buildTerms(
  { config, identity }: Pick<Services, "config" | "identity">,
  { windowMs, arbiterId }: WantedTerms & { readonly windowMs: number },
): AcceptanceTerms {
  return {
    ...toRelayTerms(config.disputes),
    window_ms: windowMs,
    arbiter_id: arbiterId ?? identity.relayId,
    platform_fee_rate: config.payments.platformFeeRate,
  };
}

interface TaskParties {
  readonly submitterId: string;
  readonly targetId: string;
  readonly executorId: string;
}

async function mayDecide(
  { storage, runtime, trustGraph }: AcceptServices,
  { arbiterId }: WantedTerms,
  { submitterId, targetId, executorId }: TaskParties,
): Promise<boolean> {
  if (arbiterId === null) return true;
  const parties = [submitterId, targetId, executorId];
  if (parties.some((party) => trustGraph.isBlocked(party, arbiterId))) return false;
  const asked = { parties, now: runtime.now(), ignoresClaims: false };
  return mayArbitrate(storage.read, arbiterId, asked);
}

/**
 * Lists the executors that no longer offer the terms of a task, or have as much open as they offer. It runs
 * in the transaction that stores the task, so that submissions at the same time cannot exceed it.
 */
export async function listWithdrawnOffers(
  read: Reader,
  attempts: readonly Attempt[],
  { acceptance: terms }: TaskAcceptance,
  relayId: string,
): Promise<string[]> {
  const arbiterId = terms.arbiter_id === relayId ? null : terms.arbiter_id;
  const withdrawn: string[] = [];
  for (const attempt of attempts) {
    const offered = await findOffer(read, attempt);
    const isOpen =
      isOffered(offered, { windowMs: terms.window_ms, arbiterId }) &&
      (await hasRoom(read, attempt.agent_id, offered.max_open));
    if (!isOpen) withdrawn.push(attempt.agent_id);
  }
  return withdrawn;
}
