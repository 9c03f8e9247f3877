export interface TrustRecordRow {
  agent_id: string;
  remote_agent_id: string;
  /** The index of the level from blocked to trusted, by which the store can sort. */
  trust_level: number;
  first_seen_at: number;
  last_seen_at: number;
  interaction_count: number;
  successful_tasks: number;
  failed_tasks: number;
  /** Completed paid tasks; only those count for delegators without a record of their own. */
  paid_tasks: number;
  /** Over the successful tasks; null before the first. */
  avg_latency_ms: number | null;
}

/** The results of an executor's paid tasks, for delegators without a record of their own. */
export interface AgentHistoryRow {
  agent_id: string;
  successful_tasks: number;
  failed_tasks: number;
  /** The sum over the successful tasks. */
  latency_total_ms: number;
  /** The same counts for unpaid tasks. */
  free_successful_tasks: number;
  free_failed_tasks: number;
  free_latency_total_ms: number;
}
