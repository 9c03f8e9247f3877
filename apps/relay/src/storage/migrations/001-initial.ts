/** Amounts are micro-units, timestamps milliseconds, flags 0 or 1, structured values JSON text. */
export const initial = {
  id: "001-initial",
  sql: `
CREATE TABLE relay_identity (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  relay_id TEXT NOT NULL,
  secret_key TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE agents (
  agent_id TEXT PRIMARY KEY,
  public_key TEXT,
  endpoint_url TEXT,
  capabilities TEXT NOT NULL,
  metadata TEXT NOT NULL,
  federation_visible INTEGER,
  registered INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE agent_keys (
  agent_id TEXT NOT NULL,
  public_key TEXT NOT NULL,
  valid_from INTEGER NOT NULL,
  valid_until INTEGER,
  succession TEXT,
  PRIMARY KEY (agent_id, public_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE devices (
  device_id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL,
  public_key TEXT NOT NULL,
  device_name TEXT,
  scopes TEXT NOT NULL,
  registered_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX devices_by_agent ON devices (agent_id);

CREATE TABLE agent_capabilities (
  capability TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  PRIMARY KEY (capability, agent_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX capabilities_by_agent ON agent_capabilities (agent_id);

CREATE TABLE listings (
  agent_id TEXT PRIMARY KEY,
  listing_id TEXT NOT NULL,
  body TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tasks (
  task_id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL,
  submitted_by TEXT,
  assigned_to TEXT,
  status TEXT NOT NULL,
  prompt TEXT NOT NULL,
  required_capabilities TEXT NOT NULL,
  submitted_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  wall_clock_ms REAL,
  step_id TEXT,
  routing_choice TEXT,
  attempts TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  charge INTEGER NOT NULL,
  locked INTEGER NOT NULL,
  allocation_id TEXT,
  claimed_by TEXT,
  lease_until INTEGER,
  blamed INTEGER NOT NULL DEFAULT 0,
  receipt_hash TEXT,
  finished_at INTEGER
) STRICT;
CREATE INDEX tasks_by_target ON tasks (agent_id, task_id);
CREATE INDEX tasks_by_executor ON tasks (assigned_to, task_id) WHERE assigned_to IS NOT NULL;
CREATE INDEX tasks_by_submitter ON tasks (submitted_by, task_id) WHERE submitted_by IS NOT NULL;
CREATE INDEX open_tasks ON tasks (coalesce(assigned_to, agent_id), task_id)
  WHERE status IN ('pending', 'claimed');
CREATE INDEX open_tasks_by_expiry ON tasks (expires_at) WHERE status IN ('pending', 'claimed');
CREATE INDEX open_leases ON tasks (lease_until) WHERE status = 'claimed';

CREATE TABLE task_counters (
  scope TEXT PRIMARY KEY,
  live INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE receipts (
  task_id TEXT PRIMARY KEY,
  receipt_hash TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  body TEXT NOT NULL,
  received_at INTEGER NOT NULL
) STRICT;

CREATE TABLE accounts (
  account TEXT PRIMARY KEY,
  balance INTEGER NOT NULL,
  held INTEGER NOT NULL,
  pending_withdrawals INTEGER NOT NULL,
  sequence INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE postings (
  account TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  transaction_id TEXT NOT NULL,
  type TEXT NOT NULL,
  amount INTEGER NOT NULL,
  balance_after INTEGER NOT NULL,
  reference_id TEXT,
  description TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (account, sequence)
) STRICT, WITHOUT ROWID;

CREATE TABLE deposit_references (
  agent_id TEXT NOT NULL,
  reference TEXT NOT NULL,
  PRIMARY KEY (agent_id, reference)
) STRICT, WITHOUT ROWID;

CREATE TABLE settlements (
  task_id TEXT PRIMARY KEY,
  settlement_id TEXT NOT NULL,
  allocation_id TEXT NOT NULL,
  receipt_hash TEXT NOT NULL,
  ledger_hash TEXT,
  amount_settled INTEGER NOT NULL,
  fee INTEGER NOT NULL,
  net INTEGER NOT NULL,
  payer_id TEXT NOT NULL,
  payee_id TEXT NOT NULL,
  status TEXT NOT NULL,
  settled_at INTEGER NOT NULL
) STRICT;
CREATE INDEX settlements_by_payer ON settlements (payer_id, settlement_id);
CREATE INDEX settlements_by_payee ON settlements (payee_id, settlement_id);

CREATE TABLE trust_records (
  agent_id TEXT NOT NULL,
  remote_agent_id TEXT NOT NULL,
  trust_level INTEGER NOT NULL,
  first_seen_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  interaction_count INTEGER NOT NULL,
  successful_tasks INTEGER NOT NULL,
  failed_tasks INTEGER NOT NULL,
  paid_tasks INTEGER NOT NULL,
  avg_latency_ms REAL,
  PRIMARY KEY (agent_id, remote_agent_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX trust_of_payers ON trust_records (remote_agent_id, trust_level) WHERE paid_tasks > 0;

CREATE TABLE agent_histories (
  agent_id TEXT PRIMARY KEY,
  successful_tasks INTEGER NOT NULL,
  failed_tasks INTEGER NOT NULL,
  latency_total_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
};
