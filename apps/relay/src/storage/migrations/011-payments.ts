/** Deposits by card and by x402. A payment that began outside the relay is completed exactly once. */
export const payments = {
  id: "011-payments",
  sql: `
CREATE TABLE card_checkouts (
  session_id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL,
  asked INTEGER,
  paid INTEGER,
  created_at INTEGER NOT NULL,
  credited_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE x402_payments (
  proof_hash TEXT PRIMARY KEY,
  payer_id TEXT NOT NULL,
  wallet TEXT NOT NULL,
  amount INTEGER NOT NULL,
  payload TEXT NOT NULL,
  requirements TEXT NOT NULL,
  state TEXT NOT NULL,
  tx_hash TEXT,
  reason TEXT,
  created_at INTEGER NOT NULL,
  settled_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX x402_payments_open ON x402_payments (created_at) WHERE state = 'settling';
`,
};
