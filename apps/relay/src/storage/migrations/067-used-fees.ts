/** Stores the part of each payer's fees that its failed tasks used; those of before used none. */
export const usedFees = {
  id: "067-used-fees",
  sql: `
ALTER TABLE agent_histories ADD COLUMN fees_used INTEGER NOT NULL DEFAULT 0;
`,
};
