import { fromMicro, type Micro } from "@agent/budget";
import type { EdgeAttributes } from "@agent/routing-semiring";
import type { KnownAgent } from "./entries.ts";

/** A path to an agent of another relay, comparable with local candidates in one ranking. */
export interface CrossRelayRoute extends EdgeAttributes {
  /** `self`, `relay:<local>`, `relay:<peer>`, optionally `relay:<source>`, then the agent's id. */
  readonly path: readonly string[];
}

/**
 * Returns the reliability of a peer from 0 to 1, by the counted outcomes of tasks sent to it: 1 without
 * failures, and lower with each task that failed or expired there, so that routing avoids it.
 */
export function computePeerReliability(record: {
  readonly successes: number;
  readonly failures: number;
}): number {
  const { successes, failures } = record;
  return (successes + 1) / (successes + failures + 1);
}

/**
 * Builds the route `self -> relay:local -> relay:remote -> agent` (specification, "Cross-relay routing").
 * The attributes of `agent` already cover the whole path, except the reliability of the peer; `passingCost`
 * is what the relays on the path add to the price.
 */
export function buildRoute(
  agent: KnownAgent,
  { self, passingCost }: { readonly self: string; readonly passingCost: Micro },
): CrossRelayRoute {
  const sourceHop = agent.source_relay === agent.via ? [] : [toRelayNode(agent.source_relay)];
  return {
    path: ["self", toRelayNode(self), toRelayNode(agent.via), ...sourceHop, agent.agent_id],
    trust: agent.trust,
    cost: fromMicro(passingCost),
    latency: agent.latency_ms ?? 0,
    reliability: agent.availability * (agent.peer_reliability ?? 1),
  };
}

/** Returns a relay's name in a path. */
export function toRelayNode(relayId: string): string {
  return `relay:${relayId}`;
}

/** Lists the relays of a forwarded task's path, in order. */
export function listRelays(path: readonly string[]): string[] {
  return path.filter((node) => node.startsWith("relay:")).map((node) => node.slice(6));
}
