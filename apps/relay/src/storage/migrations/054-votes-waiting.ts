/**
 * Marks the votes that are no longer asked for, so that those that wait are found by approver and requester
 * without reading what was decided. SQLite counts by the index alone only if it holds the columns of its
 * condition too.
 */
export const votesWaiting = {
  id: "054-votes-waiting",
  // Programs before it leave the votes of a decided call unmarked, and these count for an hour at most.
  oldest: "052-inspection-pages",
  sql: `
ALTER TABLE approval_votes ADD COLUMN closed INTEGER;
UPDATE approval_votes SET closed = 1
  WHERE decision IS NULL AND (agent_id, approval_id) IN (
    SELECT agent_id, approval_id FROM approvals WHERE status != 'pending');
CREATE INDEX votes_waiting ON approval_votes (approver_id, agent_id, sequence, decision, closed)
  WHERE decision IS NULL AND closed IS NULL;
`,
};
