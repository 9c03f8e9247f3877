/**
 * Stores when the next delivery of each webhook is due, so that the webhooks that can be sent to are found
 * by an index, without reading those that wait or pause. A delivery is stored only with its webhook, so
 * those without one, which nothing would find any more, are deleted.
 */
export const webhooksDue = {
  id: "058-webhooks-due",
  sql: `
DELETE FROM webhook_deliveries WHERE webhook_id NOT IN (SELECT webhook_id FROM webhooks);
ALTER TABLE webhooks ADD COLUMN next_at INTEGER;
UPDATE webhooks SET next_at = (
  SELECT min(next_at) FROM webhook_deliveries
  WHERE webhook_deliveries.webhook_id = webhooks.webhook_id);
CREATE INDEX webhooks_due ON webhooks (
  (CASE WHEN paused_until > next_at THEN paused_until ELSE next_at END),
  agent_id, failures, paused_until, next_at, webhook_id)
  WHERE next_at IS NOT NULL;
`,
};
