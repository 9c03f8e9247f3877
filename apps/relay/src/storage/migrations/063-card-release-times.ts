/**
 * Stores with each card payment when its money may be withdrawn, because the setting may change before the
 * payment is reversed. Older payments have none, and follow the setting.
 */
export const cardReleaseTimes = {
  id: "063-card-release-times",
  // Programs before it follow the setting for every payment.
  oldest: "062-paid-inspections",
  sql: `
ALTER TABLE card_checkouts ADD COLUMN release_at INTEGER;
`,
};
