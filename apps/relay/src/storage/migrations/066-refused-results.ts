/**
 * Stores the amount of each peer's result that the peer refused when it may have been too late, because each
 * forward of the peer reads it. Results that were refused before are forgiven.
 */
export const refusedResults = {
  id: "066-refused-results",
  sql: `
ALTER TABLE federation_inbound ADD COLUMN refused INTEGER;
CREATE INDEX federation_inbound_refused ON federation_inbound (relay_id, refused)
  WHERE refused IS NOT NULL;
`,
};
