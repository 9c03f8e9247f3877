/** The newest signed ledger of an agent for a goal, which extends the earlier ones. */
export interface LedgerRow {
  agent_id: string;
  goal_id: string;
  content_hash: string;
  /** The ledger's text exactly as it arrived. */
  body: string;
  steps_completed: number;
  steps_total: number;
  stored_at: number;
}
