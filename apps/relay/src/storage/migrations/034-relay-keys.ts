/** The key successions of this relay and its peers, and the relay key of each settlement. */
export const relayKeys = {
  id: "034-relay-keys",
  sql: `
CREATE TABLE relay_successions (
  position INTEGER PRIMARY KEY,
  record TEXT NOT NULL
) STRICT;
ALTER TABLE settlements ADD COLUMN relay_key INTEGER NOT NULL DEFAULT 0;
ALTER TABLE federation_peers ADD COLUMN succession TEXT NOT NULL DEFAULT '[]';
`,
};
