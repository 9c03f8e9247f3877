/** Who did what to an agent; nothing of it is changed or removed. */
export interface AuditEntryRow {
  agent_id: string;
  /** Counts up per agent. */
  sequence: number;
  at: number;
  /** An agent's id, `operator`, or `anonymous`. */
  actor: string;
  device_id: string | null;
  action: string;
  detail: string | null;
}
