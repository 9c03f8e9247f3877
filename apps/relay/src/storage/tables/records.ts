export interface PlanRow {
  agent_id: string;
  plan_id: string;
  /** Made by the relay; sorts by time. */
  sequence: string;
  goal_id: string;
  title: string;
  status: "active" | "completed" | "failed" | "paused";
  /** JSON array. */
  steps: string;
  /** Micro-units; null without a limit. */
  max_budget: number | null;
  created_at: number;
  updated_at: number;
}

export interface ConversationRow {
  agent_id: string;
  conversation_id: string;
  /** Made by the relay; sorts by time. */
  sequence: string;
  title: string;
  started_at: number;
  last_active_at: number;
}

export interface MessageRow {
  agent_id: string;
  conversation_id: string;
  /** Increases per conversation. */
  sequence: number;
  message_id: string;
  role: string;
  content: string;
  created_at: number;
}

/** An entry of an agent's append-only log. */
export interface AgentEventRow {
  agent_id: string;
  /** Increases per agent. */
  clock: number;
  event_id: string;
  type: string;
  timestamp: number;
  goal_id: string | null;
  payload: string;
}
