/** An agent's signed ledger of a goal; only its newest, which extends those before it. */
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
