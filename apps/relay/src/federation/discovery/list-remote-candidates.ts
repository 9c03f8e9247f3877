import { fromMicro, toMicro, type Micro, ZERO } from "@agent/budget";
import {
  findClaimWithKey,
  isReachable,
  buildRoute,
  type KnownAgent,
  type ReachableAgent,
} from "@agent/federation-protocol/discovery";
import type { Candidate } from "@agent/routing-semiring";
import {
  NO_HISTORY,
  weighExperience,
  type AskerRecord,
} from "../../routing/candidates/weigh-experience.ts";
import type { NextHop } from "../../routing/attempt.ts";
import { calculateTaskPrice } from "../../routing/price.ts";
import { findOwnRecords } from "./find-own-records.ts";
import { searchRemoteAgents } from "./search-remote-agents.ts";
import type { FederationServices } from "../federation-services.ts";

/** A remote agent in the form in which it is ranked with local ones. */
export interface RemoteCandidate {
  readonly candidate: Candidate;
  readonly nextHop: NextHop;
}

/** An agent together with the key that it must have. */
export interface PinnedAgent {
  readonly agentId: string;
  readonly publicKey: string | undefined;
}

export interface RemoteQuery {
  /** Null for a task without a payer. */
  readonly payerId: string | null;
  readonly required: readonly string[];
  readonly pinned: PinnedAgent | undefined;
  readonly isBlocked: (agentId: string) => boolean;
}

/**
 * Lists remote agents that can do a task, each with its shortest route (specification, "Cross-relay
 * routing"). An agent whose id is in conflict is left out unless the submission names its key.
 */
export async function listRemoteCandidates(
  services: FederationServices,
  { payerId, required, pinned, isBlocked }: RemoteQuery,
): Promise<RemoteCandidate[]> {
  const [capability] = required;
  if (capability === undefined) return [];
  const found = await searchRemoteAgents(services, { capability });
  const agents = found.flatMap((claimed) => {
    const publicKey = claimed.agent_id === pinned?.agentId ? pinned.publicKey : undefined;
    const agent = findClaimWithKey(claimed, publicKey);
    return agent !== undefined && isReachable(agent) ? [agent] : [];
  });
  const records = await findOwnRecords(services.storage.read, payerId ?? "", agents);
  return agents.flatMap((agent) => {
    const price = calculateRemotePrice(agent, required);
    if (price === null) return [];
    const { agent_id } = agent;
    const view = { record: records.get(agent_id), blocked: isBlocked(agent_id) };
    const candidate = buildCandidate(services, agent, price, view);
    return [{ candidate, nextHop: nextHopTo(services, agent) }];
  });
}

export function nextHopTo(
  { identity }: Pick<FederationServices, "identity">,
  agent: ReachableAgent,
): NextHop {
  const { path } = buildRoute(agent, { self: identity.relayId, passingCost: PASSING_COST });
  return { relay_id: agent.via, public_key: agent.public_key, route: path };
}

/**
 * Returns the price of a remote agent for one task; null where it does not sell that task. A peer that
 * states no prices may still state the agent's cost.
 */
export function calculateRemotePrice(agent: KnownAgent, required: readonly string[]): Micro | null {
  const { capabilities, pricing, cost } = agent;
  if (pricing.length > 0 || cost === null || cost === 0) return calculateTaskPrice(agent, required);
  return required.every((capability) => capabilities.includes(capability)) ? toMicro(cost) : null;
}

// The relays take their fees out of the price, so a longer route costs the payer nothing more.
const PASSING_COST = ZERO;

function buildCandidate(
  { identity }: Pick<FederationServices, "identity">,
  agent: KnownAgent,
  price: Micro,
  { record, blocked }: { readonly record: AskerRecord | undefined; readonly blocked: boolean },
): Candidate {
  const route = buildRoute(agent, { self: identity.relayId, passingCost: PASSING_COST });
  // Tasks were measured over the whole way, and so is the latency that the peer states.
  const others = { trust: agent.trust, history: NO_HISTORY, promisedLatencyMs: route.latency };
  const known = weighExperience(record, others, agent.peer_trust);
  const { trust_score, avg_latency_ms } = known;
  return {
    agent_id: agent.agent_id,
    capabilities: agent.capabilities,
    unit_cost: fromMicro(price),
    ...known,
    blocked,
    avg_latency_ms: avg_latency_ms === null ? null : Math.max(0, avg_latency_ms - route.latency),
    // The route already includes the latency.
    listing_latency_ms: 0,
    online: agent.availability === 1,
    availability_guarantee: Math.min(1, agent.availability * 2),
    route: { ...route, trust: trust_score },
  };
}
