/**
 * The end of each delegation budget. Older budgets do not name their tokens, so they stay until they
 * are used again.
 */
export const delegationBudgetEnds = {
  id: "006-delegation-budget-ends",
  sql: `
ALTER TABLE delegation_budgets ADD COLUMN expires_at INTEGER;
ALTER TABLE delegation_budgets ADD COLUMN open_tasks INTEGER NOT NULL DEFAULT 0;

CREATE INDEX delegation_budgets_by_end ON delegation_budgets (expires_at) WHERE expires_at IS NOT NULL;
`,
};
