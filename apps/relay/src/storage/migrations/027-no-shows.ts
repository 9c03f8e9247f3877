/**
 * Claims that ended without a receipt. The rows of expired tasks stay deleted; the view for their
 * submitters is stored here without the prompt.
 */
export const noShows = {
  id: "027-no-shows",
  sql: `
CREATE TABLE no_shows (
  task_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  target_id TEXT NOT NULL,
  submitted_by TEXT,
  lapsed_at INTEGER NOT NULL,
  expired INTEGER NOT NULL,
  task TEXT NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (task_id, agent_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX expired_no_shows ON no_shows (submitted_by, task_id) WHERE expired = 1;
CREATE INDEX no_shows_by_time ON no_shows (lapsed_at);
`,
};
