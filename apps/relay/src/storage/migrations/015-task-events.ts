/** What happens to a task is noted in its row, by the statement that makes it happen. */
export const taskEvents = {
  id: "015-task-events",
  sql: `
ALTER TABLE tasks ADD COLUMN events TEXT NOT NULL DEFAULT '[]';
`,
};
