export interface WebhookRow {
  webhook_id: string;
  agent_id: string;
  url: string;
  /** `whsec_` and base64: what deliveries are signed with. */
  secret: string;
  /** JSON array. */
  events: string;
  state: "active" | "disabled";
  /** In a row. */
  failures: number;
  last_error: string | null;
  created_at: number;
}

/** A message that was not taken yet; its id stays the same at every attempt. */
export interface WebhookDeliveryRow {
  delivery_id: string;
  webhook_id: string;
  body: string;
  attempt: number;
  next_at: number;
  /** JSON: the trace of the request that caused it; null without one. */
  trace: string | null;
}
