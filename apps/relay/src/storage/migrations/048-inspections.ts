/** Inspections before payment: the terms of a task, the inspections themselves, and the record of their end. */
export const inspections = {
  id: "048-inspections",
  sql: `
ALTER TABLE tasks ADD COLUMN acceptance TEXT;
ALTER TABLE settlements ADD COLUMN outcome_hash TEXT;
CREATE TABLE inspections (
  task_id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL,
  dispute_id TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL,
  terms TEXT NOT NULL,
  submitter_id TEXT NOT NULL,
  executor_id TEXT NOT NULL,
  arbiter_id TEXT NOT NULL,
  receipt_hash TEXT NOT NULL,
  ledger_hash TEXT,
  due INTEGER NOT NULL,
  due_status TEXT NOT NULL,
  fee INTEGER NOT NULL,
  bond INTEGER NOT NULL,
  offer INTEGER,
  deadline INTEGER,
  moved INTEGER NOT NULL,
  verdicts TEXT NOT NULL,
  decision TEXT,
  outcome TEXT,
  share INTEGER,
  lost_by TEXT,
  postings TEXT NOT NULL,
  counted INTEGER NOT NULL,
  begun_at INTEGER NOT NULL,
  contested_at INTEGER,
  passed_by TEXT,
  passed_at INTEGER,
  closed_at INTEGER
) STRICT;
CREATE INDEX inspections_due ON inspections (deadline) WHERE deadline IS NOT NULL;
CREATE INDEX inspections_by_submitter ON inspections (submitter_id, closed_at, counted, offer, lost_by);
CREATE INDEX inspections_by_executor ON inspections (executor_id, closed_at, counted, offer, lost_by);
CREATE INDEX disputes_by_arbiter ON inspections (arbiter_id, closed_at) WHERE contested_at IS NOT NULL;
CREATE INDEX disputes_by_submitter ON inspections (submitter_id, closed_at) WHERE contested_at IS NOT NULL;
CREATE INDEX disputes_passed ON inspections (passed_by, passed_at) WHERE passed_by IS NOT NULL;
`,
};
