/** Webhook subscriptions and their pending deliveries. */
export const webhooks = {
  id: "017-webhooks",
  sql: `
CREATE TABLE webhooks (
  webhook_id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL,
  url TEXT NOT NULL,
  secret TEXT NOT NULL,
  events TEXT NOT NULL,
  state TEXT NOT NULL,
  failures INTEGER NOT NULL,
  last_error TEXT,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX webhooks_by_agent ON webhooks (agent_id, webhook_id);

CREATE TABLE webhook_deliveries (
  delivery_id TEXT PRIMARY KEY,
  webhook_id TEXT NOT NULL,
  body TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  next_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_at);
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id);
`,
};
