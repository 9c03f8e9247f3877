/**
 * The time that the relay has reached, and the last movement of each account. An older database begins
 * at its newest task.
 */
export const clock = {
  id: "023-clock",
  sql: `
CREATE TABLE clock (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  at INTEGER NOT NULL
) STRICT;
INSERT INTO clock SELECT 1, submitted_at FROM tasks ORDER BY rowid DESC LIMIT 1;

ALTER TABLE accounts ADD COLUMN last_posted_at INTEGER NOT NULL DEFAULT 0;
UPDATE accounts SET last_posted_at = coalesce(
  (SELECT created_at FROM postings
    WHERE postings.account = accounts.account AND postings.sequence = accounts.sequence), 0);
`,
};
