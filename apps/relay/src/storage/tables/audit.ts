/** An action on an agent. Rows are never changed or removed. */
export interface AuditEntryRow {
  agent_id: string;
  /** Increases per agent. */
  sequence: number;
  at: number;
  /** An agent's id, `operator`, or `anonymous`. */
  actor: string;
  device_id: string | null;
  action: string;
  detail: string | null;
  /**
   * For an operator's action: the status or the code of its answer; null before the answer, and for agents.
   */
  result: string | null;
}
