/** The relay's transparency log: its entries, the tiles and signed heads of their tree, and its state. */
export const transparencyLog = {
  id: "042-transparency-log",
  sql: `
CREATE TABLE log_entries (
  idx INTEGER PRIMARY KEY,
  entry BLOB NOT NULL
) STRICT;
CREATE TABLE log_tiles (
  level INTEGER NOT NULL,
  n INTEGER NOT NULL,
  hashes BLOB NOT NULL,
  root BLOB NOT NULL,
  PRIMARY KEY (level, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE log_index (
  prefix INTEGER NOT NULL,
  idx INTEGER NOT NULL,
  PRIMARY KEY (prefix, idx)
) STRICT, WITHOUT ROWID;
CREATE TABLE log_heads (
  size INTEGER PRIMARY KEY,
  signed_at INTEGER NOT NULL,
  note TEXT NOT NULL,
  cosigned INTEGER NOT NULL
) STRICT;
CREATE TABLE log_state (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  origin TEXT NOT NULL,
  generation INTEGER NOT NULL,
  incarnation INTEGER NOT NULL,
  is_on INTEGER NOT NULL,
  began_at INTEGER NOT NULL,
  keys_entered INTEGER NOT NULL,
  published INTEGER NOT NULL,
  root_key TEXT
) STRICT;
`,
};
