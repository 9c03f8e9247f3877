/** The number of agents that offer each capability, kept by triggers. */
export const capabilityCounts = {
  id: "016-capability-counts",
  sql: `
CREATE TABLE capability_counts (
  capability TEXT PRIMARY KEY,
  agents INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX most_offered ON capability_counts (agents);

INSERT INTO capability_counts
  SELECT capability, count(*) FROM agent_capabilities GROUP BY capability;

CREATE TRIGGER capability_offered AFTER INSERT ON agent_capabilities BEGIN
  INSERT INTO capability_counts VALUES (new.capability, 1)
    ON CONFLICT DO UPDATE SET agents = agents + 1;
END;
CREATE TRIGGER capability_withdrawn AFTER DELETE ON agent_capabilities BEGIN
  UPDATE capability_counts SET agents = agents - 1 WHERE capability = old.capability;
  DELETE FROM capability_counts WHERE capability = old.capability AND agents = 0;
END;
`,
};
