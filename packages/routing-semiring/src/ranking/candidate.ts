import type { EdgeAttributes } from "../semiring.ts";

/** A route to an agent outside the graph, for example through other relays. */
export interface FixedRoute extends EdgeAttributes {
  /** The ids from the asking agent to the candidate. */
  readonly path: readonly string[];
}

/**
 * An agent that a task can be routed to. Ids are unique among the candidates.
 *
 * Numbers that are not finite or outside their range count as unknown and never in the agent's favour; an
 * invalid `unit_cost` excludes the agent.
 */
export interface Candidate {
  readonly agent_id: string;
  readonly capabilities: readonly string[];
  /** The price of all required capabilities together, in currency units; null without a listed price. */
  readonly unit_cost: number | null;
  /** The score of its trust level, 0..1; used without a route through the graph. */
  readonly trust_score: number;
  /** Blocked by the asking agent; a blocked agent scores 0 and is never chosen. */
  readonly blocked: boolean;
  readonly successes: number;
  /** Successes and failures; 0 without history. */
  readonly counted: number;
  /** The mean latency by the relay's own clock; null if never measured. */
  readonly avg_latency_ms: number | null;
  /** The latency that its listing promises. */
  readonly listing_latency_ms: number | null;
  readonly online: boolean;
  /** The availability that its listing promises, 0..1. */
  readonly availability_guarantee: number | null;
  /** Replaces a route through the graph. */
  readonly route?: FixedRoute;
}
