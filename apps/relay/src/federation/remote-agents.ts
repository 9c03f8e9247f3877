import type { KnownAgent } from "@agent/federation-protocol";
import { limits } from "@agent/wire";
import type { Told } from "./ask-peers.ts";

interface Search {
  readonly at: number;
  readonly told: Promise<Told>;
}

/** What peers have told of their agents; bounded, and gone with the process. */
export interface RemoteAgents {
  get(agentId: string): KnownAgent | undefined;
  note(agents: readonly KnownAgent[]): void;
  /** The search of that name from the last seconds, else a new one. */
  search(name: string, begin: () => Promise<Told>): Promise<readonly KnownAgent[]>;
  /** What was learned of a peer counts no more. */
  forget(relayId: string): void;
}

/** A peer may be asked 30 times a minute, so what it said a moment ago is not asked for again. */
export function createRemoteAgents(now: () => number): RemoteAgents {
  const agents = new Map<string, KnownAgent>();
  const searches = new Map<string, Search>();

  function forgetSearches(): void {
    for (const [name, { at }] of searches) {
      if (now() - at >= limits.federationCacheMs || searches.size > 1_000) searches.delete(name);
    }
  }

  return {
    get: (agentId) => agents.get(agentId),
    note(found) {
      for (const agent of found) {
        agents.delete(agent.agent_id);
        agents.set(agent.agent_id, agent);
      }
      for (const agentId of agents.keys()) {
        if (agents.size <= limits.federationAgents) return;
        agents.delete(agentId);
      }
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
      for (const [agentId, { via }] of agents) {
        if (via === relayId) agents.delete(agentId);
      }
    },
  };
}
