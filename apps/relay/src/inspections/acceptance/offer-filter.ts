import type { OfferedAcceptance } from "@agent/wire";
import type { Services } from "../../services.ts";
import { loadOpenWork } from "../reading/count-store.ts";
import { listAgentsOfKeys } from "./may-arbitrate.ts";
import { isOffered, type WantedTerms } from "./offer.ts";

/** A candidate whose listing may offer an inspection. */
interface OfferingAgent {
  readonly agent_id: string;
  readonly acceptance?: OfferedAcceptance | undefined;
}

interface OfferFilter {
  /** The agents with a key of the arbiter, which may not work on a task that it would decide. */
  readonly biased: readonly string[];
  readonly accepts: (candidate: OfferingAgent) => boolean;
}

/**
 * Accepts the candidates that offer the wanted inspection. With `withRoom`, those that have as much open as
 * they offer are refused too.
 */
export async function createOfferFilter(
  { storage, trustGraph }: Pick<Services, "storage" | "trustGraph">,
  wanted: WantedTerms,
  { withRoom }: { readonly withRoom: boolean },
): Promise<OfferFilter> {
  const { arbiterId } = wanted;
  const openWork = withRoom ? await loadOpenWork(storage.read) : new Map<string, number>();
  return {
    biased: arbiterId === null ? [] : await listAgentsOfKeys(storage.read, arbiterId),
    accepts: ({ agent_id, acceptance }) =>
      isOffered(acceptance, wanted) &&
      (openWork.get(agent_id) ?? 0) < (acceptance.max_open ?? Infinity) &&
      (arbiterId === null || !trustGraph.isBlocked(agent_id, arbiterId)),
  };
}
