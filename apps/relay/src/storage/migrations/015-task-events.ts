/** The events of a task, recorded in its row by the statement that causes them. */
export const taskEvents = {
  id: "015-task-events",
  sql: `
ALTER TABLE tasks ADD COLUMN events TEXT NOT NULL DEFAULT '[]';
`,
};
