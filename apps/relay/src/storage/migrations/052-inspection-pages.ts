/**
 * Lets a page of a long history of inspections read no more than its own rows, and keeps the figures that agents
 * show of their closed inspections, which were counted again for each request.
 */
export const inspectionPages = {
  id: "052-inspection-pages",
  sql: `
CREATE TABLE inspection_counts (
  agent_id TEXT PRIMARY KEY,
  submitter_closed INTEGER NOT NULL,
  submitter_rejected INTEGER NOT NULL,
  submitter_lost INTEGER NOT NULL,
  executor_closed INTEGER NOT NULL,
  executor_rejected INTEGER NOT NULL,
  executor_lost INTEGER NOT NULL,
  arbiter_opened INTEGER NOT NULL,
  arbiter_decided INTEGER NOT NULL,
  arbiter_undecided INTEGER NOT NULL,
  arbiter_passed INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO inspection_counts
  SELECT agent_id, sum(s_closed), sum(s_rejected), sum(s_lost), sum(e_closed), sum(e_rejected), sum(e_lost),
    sum(opened), sum(decided), sum(undecided), sum(passed)
  FROM (
    SELECT submitter_id AS agent_id, count(*) AS s_closed, count(offer) AS s_rejected,
      count(CASE WHEN lost_by = 'submitter' THEN 1 END) AS s_lost,
      0 AS e_closed, 0 AS e_rejected, 0 AS e_lost, 0 AS opened, 0 AS decided, 0 AS undecided, 0 AS passed
    FROM inspections WHERE closed_at IS NOT NULL AND counted = 1 GROUP BY submitter_id
    UNION ALL
    SELECT executor_id, 0, 0, 0, count(*), count(offer),
      count(CASE WHEN lost_by = 'executor' THEN 1 END), 0, 0, 0, 0
    FROM inspections WHERE closed_at IS NOT NULL AND counted = 1 GROUP BY executor_id
    UNION ALL
    SELECT arbiter_id, 0, 0, 0, 0, 0, 0, count(*), count(decision),
      count(CASE WHEN closed_at IS NOT NULL AND decision IS NULL AND lost_by IS NULL THEN 1 END), 0
    FROM inspections WHERE contested_at IS NOT NULL AND counted = 1 GROUP BY arbiter_id
    UNION ALL
    SELECT passed_by, 0, 0, 0, 0, 0, 0, 0, 0, 0, count(*)
    FROM inspections WHERE passed_by IS NOT NULL AND counted = 1 GROUP BY passed_by
  ) AS parts GROUP BY agent_id;

DROP INDEX inspections_by_submitter;
DROP INDEX inspections_by_executor;
DROP INDEX disputes_by_arbiter;
DROP INDEX disputes_by_submitter;
DROP INDEX disputes_passed;
CREATE INDEX inspections_by_submitter ON inspections (submitter_id, state, task_id);
CREATE INDEX inspections_by_executor ON inspections (executor_id, state, task_id);
CREATE INDEX inspections_by_state ON inspections (state, task_id);
CREATE INDEX inspections_begun ON inspections (submitter_id, begun_at) WHERE counted = 1;
CREATE INDEX disputes_waiting ON inspections (arbiter_id, state, due DESC, task_id)
  WHERE state = 'disputed';
CREATE INDEX disputes_by_arbiter ON inspections (arbiter_id, closed_at, task_id, contested_at)
  WHERE contested_at IS NOT NULL AND closed_at IS NOT NULL;
CREATE INDEX disputes_decided ON inspections (arbiter_id, closed_at)
  WHERE decision IS NOT NULL AND counted = 1;
CREATE INDEX disputes_passed ON inspections (passed_by, passed_at)
  WHERE passed_by IS NOT NULL AND counted = 1;
CREATE INDEX disputes_by_submitter ON inspections (submitter_id, closed_at)
  WHERE contested_at IS NOT NULL AND counted = 1 AND (decision IS NOT NULL OR lost_by IS NOT NULL);
`,
};
