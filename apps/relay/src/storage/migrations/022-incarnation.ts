/** The incarnation of the database. A restore of a backup begins a new one and freezes the relay. */
export const incarnation = {
  id: "022-incarnation",
  sql: `
CREATE TABLE incarnation (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  number INTEGER NOT NULL
) STRICT;
INSERT INTO incarnation (one, number) VALUES (1, 0);
ALTER TABLE freeze ADD COLUMN restored INTEGER NOT NULL DEFAULT 0;
`,
};
