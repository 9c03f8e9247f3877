/** The trace of the request that caused what a job sends later (docs/decisions.md, 1). */
export const traces = {
  id: "030-traces",
  sql: `
ALTER TABLE tasks ADD COLUMN trace TEXT;
ALTER TABLE webhook_deliveries ADD COLUMN trace TEXT;
ALTER TABLE federation_outbound ADD COLUMN trace TEXT;
ALTER TABLE federation_inbound ADD COLUMN trace TEXT;
ALTER TABLE federation_outbox ADD COLUMN trace TEXT;
`,
};
