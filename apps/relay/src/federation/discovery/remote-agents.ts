import {
  isOwnClaim,
  resolveClaims,
  type AgentClaim,
  type ClaimedAgent,
  type KnownAgent,
} from "@agent/federation-protocol/discovery";
import { limits } from "@agent/wire";

/** Lists the agents that peers have reported so far; a late answer still adds to them. */
export type DiscoveredAgents = () => readonly ClaimedAgent[];

interface PendingSearch {
  readonly at: number;
  readonly result: Promise<DiscoveredAgents>;
}

/** The agents that peers have reported. Bounded, and lost when the process ends. */
export interface RemoteAgents {
  get(agentId: string): ClaimedAgent | undefined;
  /** Records the agents of one peer; its newest statement about an agent replaces the previous one. */
  record(agents: readonly KnownAgent[], source: { readonly isAdmitted: boolean }): void;
  /** Whether an admitted peer recently listed this id as its own agent under another key. */
  isClaimedUnderAnotherKey(agentId: string, publicKey: string): boolean;
  /** Whether peers were recently asked for this id itself, and not only for a capability. */
  wasQueried(agentId: string): boolean;
  markQueried(agentId: string): void;
  /**
   * Whether one more query for the owner of a new id may be sent; strangers can trigger these queries.
   */
  tryOwnerQuery(): boolean;
  /** Returns the search of that name from the last seconds, or starts a new one. */
  search(name: string, start: () => Promise<DiscoveredAgents>): Promise<readonly ClaimedAgent[]>;
  /** Deletes what was learned from a peer. */
  purgePeer(relayId: string): void;
}

interface KnownClaims {
  readonly claims: readonly (AgentClaim & { readonly at: number })[];
  readonly queriedAt: number;
}

/** Caches answers for a short time, because a peer is asked only 20 times a minute. */
export function createRemoteAgents(now: () => number): RemoteAgents {
  const agents = new Map<string, KnownClaims>();
  const searches = new Map<string, PendingSearch>();
  let ownerQueries: number[] = [];

  function purgeSearches(): void {
    for (const [name, { at }] of searches) {
      if (now() - at >= limits.federationCacheMs || searches.size > 1_000) searches.delete(name);
    }
  }

  const isFresh = (at: number) => now() - at < limits.federationClaimMs;

  return {
    get: (agentId) => resolveClaims(agents.get(agentId)?.claims ?? []),
    record(found, { isAdmitted }) {
      for (const agent of found) {
        const before = agents.get(agent.agent_id);
        const others = before?.claims.filter(
          (claim) => claim.agent.via !== agent.via && isFresh(claim.at),
        );
        agents.delete(agent.agent_id);
        agents.set(agent.agent_id, {
          claims: [...(others ?? []), { agent, isAdmitted, at: now() }],
          queriedAt: before?.queriedAt ?? -Infinity,
        });
      }
      for (const agentId of agents.keys()) {
        if (agents.size <= limits.federationAgents) return;
        agents.delete(agentId);
      }
    },
    isClaimedUnderAnotherKey(agentId, publicKey) {
      const claims = agents.get(agentId)?.claims ?? [];
      return claims.some(
        (claim) =>
          claim.isAdmitted &&
          isOwnClaim(claim) &&
          isFresh(claim.at) &&
          claim.agent.public_key !== null &&
          claim.agent.public_key !== publicKey,
      );
    },
    wasQueried: (agentId) => isFresh(agents.get(agentId)?.queriedAt ?? -Infinity),
    markQueried(agentId) {
      const known = agents.get(agentId);
      if (known !== undefined) agents.set(agentId, { ...known, queriedAt: now() });
    },
    tryOwnerQuery() {
      ownerQueries = ownerQueries.filter((at) => now() - at < 60_000);
      if (ownerQueries.length >= limits.federationOwnerLookups) return false;
      ownerQueries.push(now());
      return true;
    },
    async search(name, start) {
      purgeSearches();
      const known = searches.get(name);
      if (known !== undefined) return (await known.result)();
      const result = start();
      searches.set(name, { at: now(), result });
      result.catch(() => searches.delete(name));
      return (await result)();
    },
    purgePeer(relayId) {
      searches.clear();
      for (const [agentId, known] of agents) {
        const claims = known.claims.filter(({ agent }) => agent.via !== relayId);
        if (claims.length === 0) agents.delete(agentId);
        else agents.set(agentId, { ...known, claims });
      }
    },
  };
}
