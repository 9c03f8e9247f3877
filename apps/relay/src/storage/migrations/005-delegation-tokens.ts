/** The delegation token of each task, and the use of each token with a budget. */
export const delegationTokens = {
  id: "005-delegation-tokens",
  sql: `
ALTER TABLE tasks ADD COLUMN delegation_token TEXT;

CREATE TABLE delegation_budgets (
  issuer_id TEXT NOT NULL,
  token_id TEXT NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (issuer_id, token_id)
) STRICT, WITHOUT ROWID;
`,
};
