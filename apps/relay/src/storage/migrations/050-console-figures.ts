/**
 * Stores when agents were online, and when the relay looked: where it did not, nothing is known. The end of an
 * open span is that of the newest watch, so that an agent that stays costs no write. Tasks that go to peers and
 * come from them get the time at which they did, by which the traffic of a day is counted.
 */
export const consoleFigures = {
  id: "050-console-figures",
  // Programs before it write no spans, which leaves a gap, and no times, so their forwards do not count.
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
ALTER TABLE federation_outbound ADD COLUMN forwarded_at INTEGER;
CREATE INDEX federation_outbound_by_time ON federation_outbound (forwarded_at, relay_id)
  WHERE forwarded_at IS NOT NULL;
ALTER TABLE federation_inbound ADD COLUMN received_at INTEGER;
CREATE INDEX federation_inbound_by_time ON federation_inbound (received_at, relay_id)
  WHERE received_at IS NOT NULL;
`,
};
