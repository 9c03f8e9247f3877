/** The logs that the relay cosigns, evidence against them, and the witnesses that peers offer. */
export const witnessTables = {
  id: "043-witness",
  sql: `
CREATE TABLE witnessed (
  origin TEXT PRIMARY KEY,
  origin_hash TEXT NOT NULL,
  vkey TEXT NOT NULL,
  relay_id TEXT,
  pinned_at INTEGER NOT NULL,
  size INTEGER NOT NULL,
  root BLOB NOT NULL,
  note TEXT NOT NULL,
  cosigned_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX witnessed_by_hash ON witnessed (origin_hash);
CREATE INDEX witnessed_by_relay ON witnessed (relay_id, pinned_at);
CREATE TABLE witness_evidence (
  evidence_id TEXT PRIMARY KEY,
  origin TEXT NOT NULL,
  code TEXT NOT NULL,
  held TEXT NOT NULL,
  offered TEXT NOT NULL,
  seen_at INTEGER NOT NULL
) STRICT;
CREATE INDEX witness_evidence_by_origin ON witness_evidence (origin, seen_at);
CREATE TABLE peer_witnesses (
  relay_id TEXT PRIMARY KEY,
  vkey TEXT NOT NULL,
  prefix TEXT NOT NULL
) STRICT;
`,
};
