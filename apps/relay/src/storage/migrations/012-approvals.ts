/** Calls that wait for a quorum, and the votes on them. */
export const approvals = {
  id: "012-approvals",
  sql: `
CREATE TABLE approvals (
  agent_id TEXT NOT NULL,
  approval_id TEXT NOT NULL,
  sequence TEXT NOT NULL,
  tool_name TEXT NOT NULL,
  args_hash TEXT NOT NULL,
  quorum_required INTEGER NOT NULL,
  status TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  resolved_at INTEGER,
  PRIMARY KEY (agent_id, approval_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX approvals_in_order ON approvals (agent_id, sequence);

CREATE TABLE approval_votes (
  agent_id TEXT NOT NULL,
  approval_id TEXT NOT NULL,
  approver_id TEXT NOT NULL,
  sequence TEXT NOT NULL,
  decision TEXT,
  signature TEXT,
  voted_at INTEGER,
  PRIMARY KEY (agent_id, approval_id, approver_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX votes_by_approver ON approval_votes (approver_id, sequence);
`,
};
