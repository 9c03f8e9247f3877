/** A settlement names the rows of its movement; an index on postings would cost one more insert each. */
export const settlementPostings = {
  id: "003-settlement-postings",
  sql: `
ALTER TABLE settlements ADD COLUMN postings TEXT NOT NULL DEFAULT '[]';
`,
};
