/**
 * The times of a claim, of its holder's last sign of work and of a request to cancel. Also the
 * capabilities that a device announced, which count while the device is offline.
 */
export const claims = {
  id: "026-claims",
  sql: `
ALTER TABLE tasks ADD COLUMN claimed_at INTEGER;
ALTER TABLE tasks ADD COLUMN worked_at INTEGER;
ALTER TABLE tasks ADD COLUMN cancel_requested_at INTEGER;
ALTER TABLE devices ADD COLUMN capabilities TEXT;
`,
};
