/** Stores which prices the card of an agent showed to whom, for a relay with several processes. */
export const shownOffers = {
  id: "064-shown-offers",
  // Programs before it remember in memory what they showed, each process for itself.
  oldest: "062-paid-inspections",
  sql: `
CREATE TABLE shown_offers (
  reader TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  offer TEXT NOT NULL,
  forget_at INTEGER NOT NULL,
  PRIMARY KEY (reader, agent_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX shown_offers_by_end ON shown_offers (forget_at);
`,
};
