/**
 * The index of the transparency log in segments, so that new entries are written to few pages. What `log_index` has
 * stays there and is read from there, because moving it would make a start as long as the log.
 */
export const logSegments = {
  id: "051-log-segments",
  // Programs before it write and read `log_index` only: they find no newer entries, and lose none.
  oldest: "049-approval-arguments",
  sql: `
CREATE TABLE log_segments (
  segment INTEGER PRIMARY KEY,
  generation INTEGER NOT NULL,
  level INTEGER NOT NULL,
  first INTEGER NOT NULL,
  state TEXT NOT NULL,
  copied BLOB NOT NULL
) STRICT;
CREATE TABLE log_segment_rows (
  segment INTEGER NOT NULL,
  prefix BLOB NOT NULL,
  idx INTEGER NOT NULL,
  PRIMARY KEY (segment, prefix, idx)
) STRICT, WITHOUT ROWID;
`,
};
