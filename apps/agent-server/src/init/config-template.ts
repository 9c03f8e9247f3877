/** The configuration that `init` writes: all settings, with those of a paid agent enabled. */
export const configTemplate = `// The settings of an agent; comments are allowed. The variables of "agent-server --help" override them.
{
  // The agent's name at the relay and for MCP clients.
  "name": "word-counter",
  "description": "Counts the words of a text",

  // Modules that export an array of tools; paths are relative to this file.
  "tools": ["./tools.mjs"],

  // MCP servers whose tools the agent offers under their own names.
  // "mcpServers": {
  //   "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."] },
  //   "weather": { "url": "https://mcp.example/mcp", "headers": { "authorization": "Bearer ..." } },
  // },

  // The relay that sends tasks and settles payments.
  "relay": { "url": "http://127.0.0.1:3000" },

  // The agent's listing there. A capability is the name of a tool; a price above 0 makes the agent a paid one.
  "listing": {
    "capabilities": ["count-words"],
    "pricing": [{ "capability": "count-words", "unit_cost": 0.05, "currency": "USD", "per": "task" }],
    "description": "Send a text as the prompt; the result is the number of its words",
  },

  // The tools that others may use: a list, or the tools of each capability that is not a tool's name, or "all".
  // Default: the tools that the listing names. A wrapped server's tools are offered only if named.
  // "offer": { "count-words": ["count-words"] },

  // The URL of this agent; without it tasks arrive over the agent's own socket to the relay.
  // "publicUrl": "https://agent.example",

  // Other callers: a holder of this token is the owner; agents of the file have the trust level stated there.
  // "authToken": "a long random text",
  // "knownAgents": "./agents.json",

  // The transport of MCP: http, or stdio for a client that starts this agent itself.
  // "transport": "http",
  // "host": "127.0.0.1",
  // "port": 3100,
  // "allowedHosts": ["agent.example"],
  // Behind a reverse proxy: its address, so that callers are counted by the addresses that it states.
  // "trustedProxies": ["127.0.0.1"],

  // Risk of a tool: 0 reads, 1 drafts, 2 writes, 3 executes, 4 moves money. Above require_approval_above
  // the owner is asked (GET and POST /approvals), above deny_above nothing runs. With a quorum the relay
  // asks these agents instead; all must approve unless fewer are required. With show_arguments they, and the
  // relay, see the arguments of the call, not only their hash.
  // "policy": {
  //   "max_risk_auto": 2,
  //   "require_approval_above": 2,
  //   "deny_above": 3,
  //   "allow": [],
  //   "deny": [],
  //   "quorum": {
  //     "approvers": [{ "agent_id": "01890000-0000-7000-8000-000000000001", "public_key": "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a" }],
  //     "required": 1,
  //     "show_arguments": false,
  //   },
  // },

  // A model that plans tasks, and one that embeds memories; both OpenAI-compatible. Keys come from the
  // environment: AGENT_LLM_API_KEY, AGENT_EMBEDDINGS_API_KEY.
  // "llm": { "baseUrl": "http://127.0.0.1:11434/v1", "model": "qwen3" },
  // "embeddings": { "baseUrl": "http://127.0.0.1:11434/v1", "model": "nomic-embed-text" },

  // The agent's data: its key, its memories, and a line for each decision about a tool call.
  "dataDir": "./.agent",
  // "memory": { "path": "./.agent/memory.db" },
  // "auditLog": "./.agent/audit.jsonl",

  // The owner may let other agents work and pay them from this agent's account: tools delegate_task, balance, ...
  // "delegation": true,

  // The agent signs what it did for each relay task, tool calls and delegations, and stores that at the relay.
  // "ledgers": true,

  // "agent_type": "service",
  // "taskTimeoutMs": 300000,
  // "syncIntervalMs": 30000,
  // "housekeepingIntervalMs": 1800000,
  // "monitorIntervalMs": 3600000,
  // "logLevel": "info",
}
`;
