/** Stores with each vote the key that signed it, so that the vote ends with the key. */
export const voteKeys = {
  id: "065-vote-keys",
  // Programs before it count a vote whatever became of its key.
  oldest: "062-paid-inspections",
  sql: `
ALTER TABLE approval_votes ADD COLUMN public_key TEXT;
`,
};
