/** The inputs of scored routing decisions. A task without one has no row. */
export const routingDecisions = {
  id: "014-routing-decisions",
  sql: `
CREATE TABLE routing_decisions (
  task_id TEXT PRIMARY KEY,
  record TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`,
};
