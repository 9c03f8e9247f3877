/** The token that a task came with, and what each token with a budget has been used for. */
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
