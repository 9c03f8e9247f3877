export interface TrustRecordRow {
  agent_id: string;
  remote_agent_id: string;
  /** Index into the levels from blocked to trusted, so that the store can order by it. */
  trust_level: number;
  first_seen_at: number;
  last_seen_at: number;
  interaction_count: number;
  successful_tasks: number;
  failed_tasks: number;
  /** Completed tasks that were paid for; only those speak to strangers. */
  paid_tasks: number;
  /** Over the successful tasks; null before the first. */
  avg_latency_ms: number | null;
}

/** What paid tasks say of an executor to delegators who have no record of their own. */
export interface AgentHistoryRow {
  agent_id: string;
  successful_tasks: number;
  failed_tasks: number;
  /** Of the successful tasks together. */
  latency_total_ms: number;
  /** What was done for nothing, counted alike. */
  free_successful_tasks: number;
  free_failed_tasks: number;
  free_latency_total_ms: number;
}
