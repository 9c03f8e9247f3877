import type { Micro } from "@agent/budget";

export interface TrustRecordRow {
  agent_id: string;
  remote_agent_id: string;
  /** The index of the level from blocked to trusted, for sorting in the database. */
  trust_level: number;
  first_seen_at: number;
  last_seen_at: number;
  interaction_count: number;
  successful_tasks: number;
  failed_tasks: number;
  /** Completed paid tasks. */
  paid_tasks: number;
  /** The fees that the relay kept on completed tasks of the pair, in micro-units; shown to no one. */
  fees_kept: Micro;
  /** Over the successful tasks; null before the first. */
  avg_latency_ms: number | null;
}

/**
 * The public record of an agent: the results of its tasks as an executor and the fees behind them, and the
 * fees that it paid as a payer, which decide whether its trust in others counts. Fees are in micro-units.
 */
export interface AgentHistoryRow {
  agent_id: string;
  successful_tasks: number;
  failed_tasks: number;
  /** The sum over the successful tasks. */
  latency_total_ms: number;
  /** The same counts for tasks that do not count for strangers: free ones, or by payers without fees. */
  free_successful_tasks: number;
  free_failed_tasks: number;
  free_latency_total_ms: number;
  /** The fees that the relay kept on tasks that it completed. */
  fees_kept: Micro;
  /** The sums of its payers' weights for each level; see `Backing`. */
  first_contact_backing: number;
  verified_backing: number;
  trusted_backing: number;
  /** The fees that the relay kept on tasks that it paid for, with all executors. */
  fees_paid: Micro;
  /** The part of these fees that its failed tasks used, which counted for strangers. */
  fees_used: Micro;
}

/** The thresholds by which the stored backing was computed; -1 before the first start. */
export interface TrustThresholdsRow {
  one: 1;
  verified: number;
  trusted: number;
}

/** Agents that have proven the same key: their words count as one. */
export interface KeySharerRow {
  agent_id: string;
  /** The id of one of them. */
  group_id: string;
}
