/** The records that agents make of their work, and the tasks of each step. */
export const records = {
  id: "013-records",
  sql: `
CREATE TABLE plans (
  agent_id TEXT NOT NULL,
  plan_id TEXT NOT NULL,
  sequence TEXT NOT NULL,
  goal_id TEXT NOT NULL,
  title TEXT NOT NULL,
  status TEXT NOT NULL,
  steps TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, plan_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX plans_in_order ON plans (agent_id, sequence);
CREATE INDEX plans_by_goal ON plans (agent_id, goal_id, sequence);

CREATE TABLE conversations (
  agent_id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  sequence TEXT NOT NULL,
  title TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  last_active_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, conversation_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX conversations_in_order ON conversations (agent_id, sequence);

CREATE TABLE messages (
  agent_id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  message_id TEXT NOT NULL,
  role TEXT NOT NULL,
  content TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, conversation_id, sequence)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX messages_by_id ON messages (agent_id, conversation_id, message_id);

CREATE TABLE agent_events (
  agent_id TEXT NOT NULL,
  clock INTEGER NOT NULL,
  event_id TEXT NOT NULL,
  type TEXT NOT NULL,
  timestamp INTEGER NOT NULL,
  goal_id TEXT,
  payload TEXT NOT NULL,
  PRIMARY KEY (agent_id, clock)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX events_by_id ON agent_events (agent_id, event_id);
CREATE INDEX events_by_goal ON agent_events (agent_id, goal_id, clock) WHERE goal_id IS NOT NULL;

CREATE INDEX tasks_by_step ON tasks (submitted_by, step_id) WHERE step_id IS NOT NULL;
`,
};
