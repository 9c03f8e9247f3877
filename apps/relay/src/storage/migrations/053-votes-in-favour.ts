/** Finds whether an approver approved a call of an agent before, so that it knows the agent. */
export const votesInFavour = {
  id: "053-votes-in-favour",
  // Programs before it work with the index as without it.
  oldest: "052-inspection-pages",
  sql: `
CREATE INDEX votes_in_favour ON approval_votes (approver_id, agent_id) WHERE decision = 'approve';
`,
};
