import { fromMicro, type Micro } from "@agent/budget";
import type { EdgeFigures } from "@agent/routing-semiring";
import type { KnownAgent } from "./entries.ts";

/** A way to an agent of another relay, ready to compete with local ones in one ranking. */
export interface CrossRelayRoute extends EdgeFigures {
  /** `self`, `relay:<local>`, `relay:<peer>`, perhaps `relay:<source>`, then the agent's id. */
  readonly path: readonly string[];
}

/**
 * The route `self -> relay:local -> relay:remote -> agent` (specification, "Cross-relay routing").
 * `agent`'s figures already are those of the whole way; `passingCost` is what passing the relays
 * adds to the price.
 */
export function routeTo(
  agent: KnownAgent,
  { self, passingCost }: { readonly self: string; readonly passingCost: Micro },
): CrossRelayRoute {
  const beyond = agent.source_relay === agent.via ? [] : [relayNode(agent.source_relay)];
  return {
    path: ["self", relayNode(self), relayNode(agent.via), ...beyond, agent.agent_id],
    trust: agent.trust,
    cost: fromMicro(passingCost),
    latency: agent.latency_ms ?? 0,
    reliability: agent.availability,
  };
}

/** A relay's name in a path. */
export function relayNode(relayId: string): string {
  return `relay:${relayId}`;
}

/** The relays of a forwarded task's path, in order. */
export function relaysOf(path: readonly string[]): string[] {
  return path.filter((node) => node.startsWith("relay:")).map((node) => node.slice(6));
}
