/**
 * Records which credit limits the operator set: those of peers that the operator once removed, and those
 * of 0 of peers that the operator added or allowed by name, because these began with more.
 */
export const creditLimits = {
  id: "055-credit-limits",
  // Programs before it give a peer with a limit of 0 the initial one when it is added, as they always did.
  oldest: "052-inspection-pages",
  sql: `
ALTER TABLE federation_peers ADD COLUMN credit_set INTEGER NOT NULL DEFAULT 0;
UPDATE federation_peers SET credit_set = 1
  WHERE operator_removal IS NOT NULL OR (admitted = 1 AND credit_limit = 0);
UPDATE federation_peers SET operator_removal = NULL WHERE operator_removal = 'lifted';
`,
};
