import { rankInSteps, type Candidate, type RankedCandidate } from "@agent/routing-semiring";
import {
  limits,
  type Answer,
  type MarketCandidate,
  type Operations,
  type QueryOf,
} from "@agent/wire";
import { findListing } from "../agents/discovery/listing-store.ts";
import { keepFitting } from "../http/paging/keep-fitting.ts";
import { toReaderId, type Caller } from "../identity/caller.ts";
import type { Services } from "../services.ts";
import type { Reader } from "../storage/storage.ts";
import { parseListing } from "../agents/discovery/parse-listing.ts";
import { toTrustBasisMember } from "../trust/trust-basis.ts";
import { findCandidate } from "./candidates/kept-capability.ts";

type MarketServices = Pick<Services, "storage" | "candidates" | "trustGraph" | "config">;

/** Lists all agents with a capability, as scored routing would rank them for this caller. */
export async function listCandidates(
  { storage, candidates, trustGraph, config }: MarketServices,
  query: QueryOf<Operations["listCandidates"]>,
  caller: Caller,
): Promise<Answer<Operations["listCandidates"]>> {
  const askerId = toReaderId(caller);
  const required = [query.capability];
  const { found, selected } = await candidates.rankInTurn({ askerId, required }, function* (list) {
    const { ranked, choice } = yield* rankInSteps(list.candidates, {
      ...trustGraph.routesFrom(askerId === "" ? null : askerId),
      nodes: list.nodes,
      requiredCapabilities: required,
      limit: query.limit ?? limits.defaultPageSize,
      ...(query.max_budget !== undefined && { maxBudget: query.max_budget }),
    });
    const found = ranked.flatMap((entry) => {
      const candidate = findCandidate(list.candidates, entry.agent_id);
      return candidate === undefined ? [] : [{ entry, candidate }];
    });
    return { found, selected: choice?.selected_agent };
  });
  const shown: MarketCandidate[] = [];
  for (const each of found) {
    const described = await describeCandidate(storage.read, each, selected);
    shown.push({ ...described, ...toTrustBasisMember(config) });
  }
  return { status: 200, body: { candidates: keepFitting(shown, JSON.stringify) } };
}

/** Adds the listing of a ranked agent, which only the shown ones need. */
async function describeCandidate(
  read: Reader,
  { entry, candidate }: { readonly entry: RankedCandidate; readonly candidate: Candidate },
  selected: string | undefined,
): Promise<MarketCandidate> {
  const row = await findListing(read, entry.agent_id);
  const listing = parseListing(row?.body);
  return {
    agent_id: entry.agent_id,
    composite_score: entry.composite_score,
    sub_scores: entry.sub_scores,
    selected: entry.agent_id === selected,
    online: candidate.online,
    affordable: entry.affordable,
    capabilities: [...candidate.capabilities],
    pricing: listing?.pricing ?? [],
    sla: listing?.sla ?? {},
    description: listing?.description ?? "",
  };
}
