/** The response to a request with an `Idempotency-Key`. */
export interface IdempotencyKeyRow {
  /** Operation and caller; for the operator also the agent that it acted for. */
  scope: string;
  key: string;
  /** SHA-256 of path and body. */
  request_hash: string;
  status: number;
  body: string;
  created_at: number;
}
