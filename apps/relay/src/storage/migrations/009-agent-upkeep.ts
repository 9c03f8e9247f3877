/** Revoked and used tokens, pairing sessions, and the audit log of agents. */
export const agentUpkeep = {
  id: "009-agent-upkeep",
  sql: `
CREATE TABLE spent_tokens (
  agent_id TEXT NOT NULL,
  jti TEXT NOT NULL,
  kind TEXT NOT NULL,
  forget_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, jti, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX spent_tokens_by_end ON spent_tokens (forget_at);

CREATE TABLE pairings (
  pairing_id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL,
  code TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL,
  device_name TEXT,
  public_key TEXT,
  device_id TEXT,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX pairings_by_expiry ON pairings (expires_at);

CREATE TABLE audit_entries (
  agent_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  device_id TEXT,
  action TEXT NOT NULL,
  detail TEXT,
  PRIMARY KEY (agent_id, sequence)
) STRICT, WITHOUT ROWID;
`,
};
