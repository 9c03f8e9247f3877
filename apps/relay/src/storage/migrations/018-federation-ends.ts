/**
 * The end of each forward between relays, so that it can be purged. The keys of other relays' agents
 * are stored apart, because reputation outlives a task.
 */
export const federationEnds = {
  id: "018-federation-ends",
  sql: `
CREATE TABLE federation_agent_keys (
  agent_id TEXT PRIMARY KEY,
  public_key TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO federation_agent_keys
  SELECT body ->> '$.agentId', body ->> '$.publicKey' FROM federation_outbound
  WHERE attestation IS NOT NULL ORDER BY task_id;
DROP INDEX federation_outbound_proven;

ALTER TABLE federation_outbound ADD COLUMN ended_at INTEGER;
UPDATE federation_outbound SET ended_at = body ->> '$.expiresAt'
  WHERE body ->> '$.state' NOT IN ('forwarding', 'forwarded', 'relaying');
CREATE INDEX federation_outbound_ended ON federation_outbound (ended_at)
  WHERE ended_at IS NOT NULL;

ALTER TABLE federation_inbound ADD COLUMN ended_at INTEGER;
UPDATE federation_inbound SET ended_at = body ->> '$.holdUntil'
  WHERE body ->> '$.state' NOT IN ('running', 'returning')
    AND body ->> '$.hold' <> 'open' AND settlement_id IS NULL;
CREATE INDEX federation_inbound_ended ON federation_inbound (ended_at) WHERE ended_at IS NOT NULL;

ALTER TABLE federation_outbox ADD COLUMN ended_at INTEGER;
UPDATE federation_outbox SET ended_at = body ->> '$.endedAt';
CREATE INDEX federation_outbox_ended ON federation_outbox (ended_at) WHERE ended_at IS NOT NULL;
`,
};
