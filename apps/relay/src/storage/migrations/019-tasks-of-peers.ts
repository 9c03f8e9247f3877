/** Indexes finished tasks of peers by time, because their ids are chosen by the peers. */
export const tasksOfPeers = {
  id: "019-tasks-of-peers",
  sql: `
CREATE INDEX tasks_of_peers ON tasks (finished_at)
  WHERE submitted_by GLOB 'relay:*' AND finished_at IS NOT NULL;
`,
};
