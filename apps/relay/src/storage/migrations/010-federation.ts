/** Other relays, the tasks forwarded to and received from them, and the open settlements. */
export const federation = {
  id: "010-federation",
  sql: `
CREATE TABLE federation_peers (
  relay_id TEXT PRIMARY KEY,
  public_key TEXT NOT NULL,
  endpoint_url TEXT NOT NULL,
  display_name TEXT NOT NULL,
  state TEXT NOT NULL,
  credit_limit INTEGER NOT NULL,
  reserved INTEGER NOT NULL,
  missed_heartbeats INTEGER NOT NULL,
  last_timestamp INTEGER NOT NULL,
  last_heartbeat_at INTEGER,
  agent_count INTEGER NOT NULL,
  forwards TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE federation_outbound (
  task_id TEXT PRIMARY KEY,
  relay_id TEXT NOT NULL,
  due_at INTEGER,
  version INTEGER NOT NULL,
  body TEXT NOT NULL,
  route TEXT NOT NULL,
  attestation TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX federation_outbound_due ON federation_outbound (due_at) WHERE due_at IS NOT NULL;

CREATE INDEX federation_outbound_proven ON federation_outbound (body ->> '$.agentId')
  WHERE attestation IS NOT NULL;

CREATE TABLE federation_inbound (
  task_id TEXT PRIMARY KEY,
  relay_id TEXT NOT NULL,
  due_at INTEGER,
  version INTEGER NOT NULL,
  body TEXT NOT NULL,
  public_key TEXT,
  settlement_id TEXT,
  settlement TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX federation_inbound_due ON federation_inbound (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX federation_inbound_settled ON federation_inbound (relay_id, settlement_id)
  WHERE settlement_id IS NOT NULL;

CREATE TABLE federation_outbox (
  settlement_id TEXT PRIMARY KEY,
  task_id TEXT NOT NULL UNIQUE,
  relay_id TEXT NOT NULL,
  state TEXT NOT NULL,
  due_at INTEGER,
  version INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX federation_outbox_due ON federation_outbox (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE federation_holds (
  task_id TEXT PRIMARY KEY,
  amount INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE federation_payments (
  relay_id TEXT NOT NULL,
  reference TEXT NOT NULL,
  PRIMARY KEY (relay_id, reference)
) STRICT, WITHOUT ROWID;
`,
};
