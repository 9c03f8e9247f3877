/** Lets the pending withdrawals of an agent be counted without reading those that were resolved. */
export const pendingWithdrawals = {
  id: "060-pending-withdrawals",
  // Programs before it use everything else of the database as they did.
  oldest: "052-inspection-pages",
  sql: `
CREATE INDEX withdrawals_pending ON withdrawals (agent_id) WHERE status = 'pending';
`,
};
