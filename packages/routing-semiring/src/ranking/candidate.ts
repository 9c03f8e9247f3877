import type { EdgeAttributes } from "../semiring.ts";

/** A way to an agent that the graph does not know of, such as one by way of other relays. */
export interface FixedRoute extends EdgeAttributes {
  /** The ids from the asking agent to the candidate. */
  readonly path: readonly string[];
}

/**
 * What is known of one agent when a task is routed. Ids are unique among the candidates.
 *
 * Figures that are no finite number in their range count as unknown, and never in the agent's
 * favour; a `unit_cost` that is none excludes the agent.
 */
export interface Candidate {
  readonly agent_id: string;
  readonly capabilities: readonly string[];
  /** Its price for the required capabilities together, in currency units; null = no price listed. */
  readonly unit_cost: number | null;
  /** 0..1: the score of its level; used where the graph holds no route to it. */
  readonly trust_score: number;
  /** By the asking agent; a blocked agent scores 0 and is never chosen. */
  readonly blocked: boolean;
  readonly successes: number;
  /** Successes and failures; 0 = no history. */
  readonly counted: number;
  /** Measured by the relay's own clock; null = never measured. */
  readonly avg_latency_ms: number | null;
  /** As its listing promises. */
  readonly listing_latency_ms: number | null;
  readonly online: boolean;
  /** 0..1, as its listing promises. */
  readonly availability_guarantee: number | null;
  /** Counts instead of a route through the graph. */
  readonly route?: FixedRoute;
}
