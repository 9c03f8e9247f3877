export interface WebhookRow {
  webhook_id: string;
  agent_id: string;
  url: string;
  /** The signing key of deliveries: `whsec_` and base64. */
  secret: string;
  /** JSON array. */
  events: string;
  state: "active" | "disabled";
  /** The number of consecutive failures. */
  failures: number;
  last_error: string | null;
  /** Nothing is sent before this time, because the last delivery failed. */
  paused_until: number;
  /** No delivery is due before this time; null if none is pending. */
  next_at: number | null;
  created_at: number;
}

/** A pending delivery. Its id is the same at every attempt. */
export interface WebhookDeliveryRow {
  delivery_id: string;
  webhook_id: string;
  body: string;
  attempt: number;
  next_at: number;
  /** JSON: the trace of the request that caused it; null without one. */
  trace: string | null;
}
