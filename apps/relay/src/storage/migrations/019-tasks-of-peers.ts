/** Finds finished tasks of peers, whose ids are of their making and say nothing of the time. */
export const tasksOfPeers = {
  id: "019-tasks-of-peers",
  sql: `
CREATE INDEX tasks_of_peers ON tasks (finished_at)
  WHERE submitted_by GLOB 'relay:*' AND finished_at IS NOT NULL;
`,
};
