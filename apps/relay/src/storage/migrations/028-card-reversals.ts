/**
 * Reversed card payments: the card money of an account that may not be withdrawn yet (JSON array of
 * [release time, amount]; null for almost every account), the payment of each checkout, and the
 * refunded and disputed amounts of each payment.
 */
export const cardReversals = {
  id: "028-card-reversals",
  sql: `
ALTER TABLE accounts ADD COLUMN card_lots TEXT;

ALTER TABLE card_checkouts ADD COLUMN payment_id TEXT;
CREATE INDEX card_checkouts_payment ON card_checkouts (payment_id) WHERE payment_id IS NOT NULL;

CREATE TABLE card_reversals (
  payment_id TEXT PRIMARY KEY,
  agent_id TEXT,
  refunded INTEGER NOT NULL,
  booked INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX card_reversals_agent ON card_reversals (agent_id) WHERE agent_id IS NOT NULL;

CREATE TABLE card_disputes (
  dispute_id TEXT PRIMARY KEY,
  payment_id TEXT NOT NULL,
  amount INTEGER NOT NULL,
  is_taken INTEGER NOT NULL,
  is_final INTEGER NOT NULL,
  said_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX card_disputes_payment ON card_disputes (payment_id);
`,
};
