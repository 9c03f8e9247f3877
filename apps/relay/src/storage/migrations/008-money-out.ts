/** Withdrawals, and the freeze of the relay. */
export const moneyOut = {
  id: "008-money-out",
  sql: `
CREATE TABLE withdrawals (
  withdrawal_id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL,
  amount INTEGER NOT NULL,
  destination TEXT NOT NULL,
  status TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  resolved_at INTEGER,
  payout_reference TEXT,
  reason TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX withdrawals_by_agent ON withdrawals (agent_id, withdrawal_id);
CREATE INDEX withdrawals_by_status ON withdrawals (status, withdrawal_id);

CREATE TABLE freeze (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  since INTEGER NOT NULL,
  reason TEXT NOT NULL
) STRICT;
`,
};
