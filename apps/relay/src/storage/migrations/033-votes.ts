/**
 * Votes of the first form sign neither the tool nor the relay, so they must not decide a pending call;
 * their approvers vote again. Denied and used approvals are not changed.
 */
export const votes = {
  id: "033-votes",
  sql: `
UPDATE approval_votes SET decision = NULL, signature = NULL, voted_at = NULL
  WHERE (agent_id, approval_id) IN (
    SELECT agent_id, approval_id FROM approvals WHERE status IN ('pending', 'approved')
  );
UPDATE approvals SET status = 'pending', resolved_at = NULL WHERE status = 'approved';
`,
};
