import { postgresBaseline } from "./postgres-baseline.ts";

/**
 * Names the peers of a task in columns of their own: the one that submitted it, and the one whose agent
 * is its executor. Earlier versions read them from prefixes of other columns and from the attempts.
 */
export const taskPeers = {
  id: "036-task-peers",
  postgresBaseline,
  sql: `
ALTER TABLE tasks ADD COLUMN origin_peer TEXT;
ALTER TABLE tasks ADD COLUMN via_peer TEXT;
UPDATE tasks SET origin_peer = substr(submitted_by, 7) WHERE submitted_by GLOB 'relay:*';
UPDATE tasks SET via_peer = coalesce(
    attempts ->> ('$[' || attempt || '].via.relay_id'),
    CASE WHEN claimed_by GLOB 'relay *' THEN substr(claimed_by, 7) END)
  WHERE claimed_by GLOB 'relay *' OR instr(attempts, '"via":') > 0;

DROP INDEX tasks_of_peers;
CREATE INDEX tasks_of_peers ON tasks (finished_at)
  WHERE origin_peer IS NOT NULL AND finished_at IS NOT NULL;
`,
};
