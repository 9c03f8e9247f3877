/** Indexes payments that wait for the operator, so that not all payments are read. */
export const reconciliation = {
  id: "024-reconciliation",
  sql: `
CREATE INDEX x402_payments_undecided ON x402_payments (proof_hash) WHERE state = 'undecided';
`,
};
