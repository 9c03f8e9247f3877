/**
 * The time at which the texts of a task and of a receipt were replaced by their hashes, and the
 * archived receipts that contain a nested one, because an erasure must find every copy.
 */
export const erasedTexts = {
  id: "031-erased-texts",
  sql: `
ALTER TABLE tasks ADD COLUMN erased_at INTEGER;
ALTER TABLE receipts ADD COLUMN erased_at INTEGER;

CREATE TABLE nested_receipts (
  signature TEXT NOT NULL,
  task_id TEXT NOT NULL,
  PRIMARY KEY (signature, task_id)
) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO nested_receipts
  SELECT inside.atom, receipts.task_id
  FROM receipts, json_tree(receipts.body, '$.delegation_receipts') AS inside
  WHERE instr(receipts.body, '"delegation_receipts"') > 0
    AND inside.key = 'signature' AND inside.type = 'text';
`,
};
