/** Lets a page of the largest withdrawals in a state read no more than its own rows. */
export const withdrawalsByAmount = {
  id: "057-withdrawals-by-amount",
  // Programs before it use everything else of the database as they did.
  oldest: "052-inspection-pages",
  sql: `
CREATE INDEX withdrawals_by_amount ON withdrawals (status, amount DESC, withdrawal_id);
`,
};
