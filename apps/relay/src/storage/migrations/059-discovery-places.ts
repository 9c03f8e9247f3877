const COLUMNS = `
ALTER TABLE agents ADD COLUMN place TEXT NOT NULL DEFAULT '';
UPDATE agents SET place = coalesce((
  SELECT 50 - length(fees_kept || '') FROM agent_histories
  WHERE agent_histories.agent_id = agents.agent_id AND fees_kept > 0), 50) || '-' || agent_id;
CREATE INDEX agents_by_place ON agents (place);
ALTER TABLE agent_capabilities ADD COLUMN place TEXT NOT NULL DEFAULT '';
UPDATE agent_capabilities SET place = coalesce((
  SELECT place FROM agents WHERE agents.agent_id = agent_capabilities.agent_id), '');
CREATE INDEX capabilities_by_place ON agent_capabilities (capability, place);
`;

/**
 * Stores the place of each agent in discovery, by which a page is read from an index. The rule is
 * `toPlace`. A trigger copies it to the capabilities, so that a transaction that is decided in memory
 * changes one row.
 */
export const discoveryPlaces = {
  id: "059-discovery-places",
  sql: {
    sqlite: `${COLUMNS}
CREATE TRIGGER agent_moved AFTER UPDATE OF place ON agents WHEN new.place <> old.place BEGIN
  UPDATE agent_capabilities SET place = new.place WHERE agent_id = new.agent_id;
END;
`,
    postgres: `${COLUMNS}
CREATE FUNCTION move_capabilities() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE agent_capabilities SET place = new.place WHERE agent_id = new.agent_id;
  RETURN NULL;
END
$$;
CREATE TRIGGER agent_moved AFTER UPDATE OF place ON agents FOR EACH ROW
  WHEN (new.place <> old.place) EXECUTE FUNCTION move_capabilities();
`,
  },
};
