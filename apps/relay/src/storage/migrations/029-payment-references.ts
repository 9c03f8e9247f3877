/**
 * The task of each x402 payment, the payment of each settled task, and the total budget of a plan.
 */
export const paymentReferences = {
  id: "029-payment-references",
  sql: `
ALTER TABLE x402_payments ADD COLUMN task_id TEXT;
CREATE INDEX x402_payments_task ON x402_payments (task_id) WHERE task_id IS NOT NULL;

ALTER TABLE settlements ADD COLUMN x402_tx_hash TEXT;
ALTER TABLE settlements ADD COLUMN x402_network TEXT;

ALTER TABLE plans ADD COLUMN max_budget INTEGER;
`,
};
