/**
 * The number of tasks above a task, and the executors of those that are tasks of this relay. A mark while
 * replaced data may still be readable in the files.
 */
export const taskDepth = {
  id: "039-task-depth",
  sql: `
ALTER TABLE tasks ADD COLUMN depth INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN ancestors TEXT;
ALTER TABLE relay_identity ADD COLUMN scrub_pending INTEGER NOT NULL DEFAULT 0;
`,
};
