/**
 * The features and the incarnation of peers; the signed order, the signed acceptance and the defaulted
 * amount of a peer's task; the open amounts of a peer, for its position.
 */
export const federationFeatures = {
  id: "021-federation-features",
  sql: `
ALTER TABLE federation_peers ADD COLUMN features TEXT NOT NULL DEFAULT '[]';
ALTER TABLE federation_peers ADD COLUMN incarnation INTEGER NOT NULL DEFAULT 0;

ALTER TABLE federation_inbound ADD COLUMN forward TEXT;
ALTER TABLE federation_inbound ADD COLUMN accepted TEXT;
ALTER TABLE federation_inbound ADD COLUMN defaulted INTEGER;
CREATE INDEX federation_inbound_defaulted ON federation_inbound (relay_id, defaulted)
  WHERE defaulted IS NOT NULL;
CREATE INDEX federation_inbound_orders ON federation_inbound (body ->> '$.settlement.bookedAt')
  WHERE forward IS NOT NULL AND settlement_id IS NOT NULL;

CREATE INDEX federation_outbound_open ON federation_outbound (relay_id) WHERE ended_at IS NULL;
CREATE INDEX federation_inbound_open ON federation_inbound (relay_id)
  WHERE ended_at IS NULL AND settlement_id IS NULL AND defaulted IS NULL;
CREATE INDEX federation_outbox_open ON federation_outbox (relay_id) WHERE ended_at IS NULL;
`,
};
