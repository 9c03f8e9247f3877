import {
  isOwnClaim,
  judgeClaims,
  type AgentClaim,
  type ClaimedAgent,
  type KnownAgent,
} from "@agent/federation-protocol";
import { limits } from "@agent/wire";
import type { Told } from "./ask-peers.ts";

interface Search {
  readonly at: number;
  readonly told: Promise<Told>;
}

/** What peers have told of their agents; bounded, and gone with the process. */
export interface RemoteAgents {
  get(agentId: string): ClaimedAgent | undefined;
  /** Notes what one peer tells; its newest word of an agent replaces the one before. */
  note(agents: readonly KnownAgent[], teller: { readonly isAdmitted: boolean }): void;
  /** Whether an admitted peer has lately told of an agent of its own under another key than this one. */
  isClaimedUnderAnotherKey(agentId: string, publicKey: string): boolean;
  /** Whether peers were lately asked for this agent itself, and not only for what it can do. */
  wasAskedFor(agentId: string): boolean;
  noteAskedFor(agentId: string): void;
  /** Whether peers may be asked once more whose a new id is; strangers cause these questions. */
  mayAskForOwner(): boolean;
  /** The search of that name from the last seconds, else a new one. */
  search(name: string, begin: () => Promise<Told>): Promise<readonly ClaimedAgent[]>;
  /** What was learned of a peer counts no more. */
  forget(relayId: string): void;
}

interface Known {
  readonly claims: readonly (AgentClaim & { readonly at: number })[];
  readonly askedAt: number;
}

/** A peer may be asked 30 times a minute, so what it said a moment ago is not asked for again. */
export function createRemoteAgents(now: () => number): RemoteAgents {
  const agents = new Map<string, Known>();
  const searches = new Map<string, Search>();
  let questions: number[] = [];

  function forgetSearches(): void {
    for (const [name, { at }] of searches) {
      if (now() - at >= limits.federationCacheMs || searches.size > 1_000) searches.delete(name);
    }
  }

  const isFresh = (at: number) => now() - at < limits.federationClaimMs;

  return {
    get: (agentId) => judgeClaims(agents.get(agentId)?.claims ?? []),
    note(found, { isAdmitted }) {
      for (const agent of found) {
        const before = agents.get(agent.agent_id);
        const others = before?.claims.filter(
          (claim) => claim.agent.via !== agent.via && isFresh(claim.at),
        );
        agents.delete(agent.agent_id);
        agents.set(agent.agent_id, {
          claims: [...(others ?? []), { agent, isAdmitted, at: now() }],
          askedAt: before?.askedAt ?? -Infinity,
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
    wasAskedFor: (agentId) => isFresh(agents.get(agentId)?.askedAt ?? -Infinity),
    noteAskedFor(agentId) {
      const known = agents.get(agentId);
      if (known !== undefined) agents.set(agentId, { ...known, askedAt: now() });
    },
    mayAskForOwner() {
      questions = questions.filter((at) => now() - at < 60_000);
      if (questions.length >= limits.federationOwnerQuestions) return false;
      questions.push(now());
      return true;
    },
    async search(name, begin) {
      forgetSearches();
      const known = searches.get(name);
      if (known !== undefined) return (await known.told)();
      const told = begin();
      searches.set(name, { at: now(), told });
      told.catch(() => searches.delete(name));
      return (await told)();
    },
    forget(relayId) {
      searches.clear();
      for (const [agentId, known] of agents) {
        const claims = known.claims.filter(({ agent }) => agent.via !== relayId);
        if (claims.length === 0) agents.delete(agentId);
        else agents.set(agentId, { ...known, claims });
      }
    },
  };
}
