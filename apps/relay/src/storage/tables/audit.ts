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
  /** Of an operator's act: the status or the code of its answer; null before it, and for agents. */
  result: string | null;
}
