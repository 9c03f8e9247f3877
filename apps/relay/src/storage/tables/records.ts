export interface PlanRow {
  agent_id: string;
  plan_id: string;
  /** Of the relay's making, by time. */
  sequence: string;
  goal_id: string;
  title: string;
  status: "active" | "completed" | "failed" | "paused";
  /** JSON array. */
  steps: string;
  /** Micro-units; null where no limit was given. */
  max_budget: number | null;
  created_at: number;
  updated_at: number;
}

export interface ConversationRow {
  agent_id: string;
  conversation_id: string;
  /** Of the relay's making, by time. */
  sequence: string;
  title: string;
  started_at: number;
  last_active_at: number;
}

export interface MessageRow {
  agent_id: string;
  conversation_id: string;
  /** Counts up per conversation. */
  sequence: number;
  message_id: string;
  role: string;
  content: string;
  created_at: number;
}

/** An entry of an agent's log, which is only appended to. */
export interface AgentEventRow {
  agent_id: string;
  /** Counts up per agent. */
  clock: number;
  event_id: string;
  type: string;
  timestamp: number;
  goal_id: string | null;
  payload: string;
}
