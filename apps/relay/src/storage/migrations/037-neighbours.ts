/**
 * Bounds what one agent can cost the others.
 *
 * Stores the events of a task as rows and their number on the task, so that a reader of the task does
 * not parse them. The first one, if it is a claim, stays on the task: most tasks have no other event.
 * The lists of older versions remain until `moveOldEvents` has moved them, found by the index.
 *
 * Webhooks pause after a failure, and the next delivery of each is found by an index.
 */
export const neighbours = {
  id: "037-neighbours",
  sql: `
CREATE TABLE task_events (
  task_id TEXT NOT NULL REFERENCES tasks (task_id) ON DELETE CASCADE,
  event_id INTEGER NOT NULL,
  type TEXT NOT NULL,
  at INTEGER NOT NULL,
  note TEXT,
  assigned_to TEXT,
  PRIMARY KEY (task_id, event_id)
) STRICT, WITHOUT ROWID;
ALTER TABLE tasks ADD COLUMN event_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN note_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN first_claimed_at INTEGER;
CREATE INDEX tasks_with_old_events ON tasks (task_id) WHERE events <> '[]';

ALTER TABLE webhooks ADD COLUMN paused_until INTEGER NOT NULL DEFAULT 0;
DROP INDEX webhook_deliveries_due;
DROP INDEX webhook_deliveries_by_webhook;
CREATE INDEX webhook_deliveries_in_order ON webhook_deliveries (webhook_id, next_at);
`,
};
