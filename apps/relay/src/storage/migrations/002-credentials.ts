/** Credentials by their subject, and the unpaid work of agents. */
export const credentials = {
  id: "002-credentials",
  sql: `
CREATE TABLE credentials (
  agent_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  credential_id TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL,
  issuer TEXT NOT NULL,
  delegator_id TEXT NOT NULL,
  task_id TEXT,
  body TEXT NOT NULL,
  issued_at INTEGER NOT NULL,
  expires_at INTEGER,
  current INTEGER NOT NULL,
  revoked_at INTEGER,
  revoked_reason TEXT,
  PRIMARY KEY (agent_id, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX credentials_by_type ON credentials (agent_id, type, sequence);
CREATE UNIQUE INDEX credential_of_task ON credentials (task_id) WHERE task_id IS NOT NULL;
CREATE UNIQUE INDEX current_credentials ON credentials (agent_id, issuer, type, delegator_id)
  WHERE current = 1;

ALTER TABLE agent_histories ADD COLUMN free_successful_tasks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agent_histories ADD COLUMN free_failed_tasks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agent_histories ADD COLUMN free_latency_total_ms INTEGER NOT NULL DEFAULT 0;
`,
};
