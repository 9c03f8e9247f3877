/** Signed ledgers by agent and goal, with the values that a settlement reads; the archive by signer. */
export const ledgers = {
  id: "004-ledgers",
  sql: `
CREATE TABLE ledgers (
  agent_id TEXT NOT NULL,
  goal_id TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  body TEXT NOT NULL,
  steps_completed INTEGER NOT NULL,
  steps_total INTEGER NOT NULL,
  stored_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, goal_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX receipts_by_agent ON receipts (agent_id, task_id);
`,
};
