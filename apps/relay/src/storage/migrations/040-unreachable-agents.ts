/** The time at which a call found no MCP server at an agent's endpoint. */
export const unreachableAgents = {
  id: "040-unreachable-agents",
  sql: `
ALTER TABLE agents ADD COLUMN unreachable_at INTEGER;
`,
};
