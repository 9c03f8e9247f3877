import type { OfferedAcceptance } from "@agent/wire";
import type { Services } from "../../services.ts";
import { loadOpenWork } from "../reading/count-store.ts";
import { listRelatedAgents } from "./may-arbitrate.ts";
import { isOffered, type WantedTerms } from "./offer.ts";

/** A candidate whose listing may offer an inspection. */
interface OfferingAgent {
  readonly agent_id: string;
  readonly acceptance?: OfferedAcceptance | undefined;
}

interface FilterOptions<Agent> {
  /** Refuses the candidates that have as much open as they offer. */
  readonly withRoom: boolean;
  /** Returns whether a task of the candidate's price can be inspected. */
  readonly isPriceFit: (candidate: Agent) => boolean;
}

interface OfferFilter<Agent> {
  /** The agents about which the arbiter must not decide, so they may not work on the task. */
  readonly biased: readonly string[];
  readonly accepts: (candidate: Agent) => boolean;
}

/** Accepts the candidates that offer the wanted inspection at a price for which there is one. */
export async function createOfferFilter<Agent extends OfferingAgent>(
  { storage, trustGraph }: Pick<Services, "storage" | "trustGraph">,
  wanted: WantedTerms,
  { withRoom, isPriceFit }: FilterOptions<Agent>,
): Promise<OfferFilter<Agent>> {
  const { arbiterId } = wanted;
  const openWork = withRoom ? await loadOpenWork(storage.read) : new Map<string, number>();
  return {
    biased: arbiterId === null ? [] : await listRelatedAgents(storage.read, arbiterId),
    accepts(candidate) {
      const { agent_id, acceptance } = candidate;
      return (
        isOffered(acceptance, wanted) &&
        (openWork.get(agent_id) ?? 0) < (acceptance.max_open ?? Infinity) &&
        (arbiterId === null || !trustGraph.isBlocked(agent_id, arbiterId)) &&
        isPriceFit(candidate)
      );
    },
  };
}
