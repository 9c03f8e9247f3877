/**
 * The peer that delivered the work of another relay's agent under a key, and whether the agent was the
 * peer's own. Rows of an older database name no peer (''), so they prevent no binding. An index finds
 * trust records by their subject.
 */
export const agentKeySources = {
  id: "035-agent-key-sources",
  sql: `
ALTER TABLE federation_agent_keys RENAME TO federation_agent_keys_before;
CREATE TABLE federation_agent_keys (
  agent_id TEXT NOT NULL,
  relay_id TEXT NOT NULL,
  public_key TEXT NOT NULL,
  is_own INTEGER NOT NULL,
  PRIMARY KEY (agent_id, relay_id)
) STRICT, WITHOUT ROWID;
INSERT OR REPLACE INTO federation_agent_keys
  SELECT body ->> '$.agentId', relay_id, body ->> '$.publicKey',
    json_array_length(route) = 4 AND route ->> 2 = 'relay:' || relay_id
      AND task_id NOT IN (SELECT task_id FROM federation_inbound)
  FROM federation_outbound WHERE attestation IS NOT NULL ORDER BY task_id;
INSERT INTO federation_agent_keys
  SELECT agent_id, '', public_key, 0 FROM federation_agent_keys_before AS before
  WHERE NOT EXISTS (SELECT 1 FROM federation_agent_keys AS known
    WHERE known.agent_id = before.agent_id AND known.public_key = before.public_key);
DROP TABLE federation_agent_keys_before;

CREATE INDEX trust_by_executor ON trust_records (remote_agent_id);
`,
};
