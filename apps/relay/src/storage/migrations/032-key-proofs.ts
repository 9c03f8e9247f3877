/**
 * The id under which a key was proven by its holder's signature; the peers that the operator admitted
 * by name (of the known peers, those with credit); and indexes of the bindings of a key.
 */
export const keyProofs = {
  id: "032-key-proofs",
  sql: `
CREATE TABLE key_proofs (
  public_key TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL,
  proven_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX agent_keys_by_key ON agent_keys (public_key);
CREATE INDEX devices_by_key ON devices (public_key);

ALTER TABLE federation_peers ADD COLUMN admitted INTEGER NOT NULL DEFAULT 0;
UPDATE federation_peers SET admitted = 1 WHERE credit_limit > 0 AND operator_removal IS NOT 'in_force';
`,
};
