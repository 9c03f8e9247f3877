/**
 * Lets the inspections that a submitter paid for, and its disputes before one arbiter, be read without all others of
 * it: by them its further ones are limited.
 */
export const paidInspections = {
  id: "062-paid-inspections",
  sql: `
DROP INDEX inspections_begun;
CREATE INDEX inspections_paid ON inspections (submitter_id, closed_at, due)
  WHERE counted = 1 AND offer IS NULL AND closed_at IS NOT NULL;
CREATE INDEX disputes_of_pair ON inspections (submitter_id, arbiter_id, closed_at)
  WHERE contested_at IS NOT NULL AND counted = 1 AND (decision IS NOT NULL OR lost_by IS NOT NULL);
`,
};
