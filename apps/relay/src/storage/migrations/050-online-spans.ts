/**
 * Stores when agents were online, and when the relay looked: where it did not, nothing is known. The end of an
 * open span is that of the newest watch, so that an agent that stays costs no write.
 */
export const onlineSpans = {
  id: "050-online-spans",
  // Programs before it write no spans, which leaves a gap.
  oldest: "049-approval-arguments",
  sql: `
CREATE TABLE online_spans (
  agent_id TEXT NOT NULL,
  since INTEGER NOT NULL,
  until INTEGER,
  PRIMARY KEY (agent_id, since)
) STRICT, WITHOUT ROWID;
CREATE INDEX open_online_spans ON online_spans (agent_id) WHERE until IS NULL;
CREATE INDEX online_spans_by_end ON online_spans (until) WHERE until IS NOT NULL;
CREATE TABLE online_watches (
  since INTEGER PRIMARY KEY,
  until INTEGER NOT NULL
) STRICT;
`,
};
