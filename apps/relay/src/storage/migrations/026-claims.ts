/**
 * When a claim was made, when its holder last showed that it works, and when its submitter asked to
 * cancel; and what a device announced that it can do, so that it counts while the device is away.
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
