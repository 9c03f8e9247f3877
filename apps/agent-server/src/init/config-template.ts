/** What `init` writes: every setting, those that an agent needs to be paid switched on. */
export const configTemplate = `// The settings of an agent; comments are allowed. Every variable of "agent-server --help" wins over them.
{
  // How the agent calls itself at the relay and to MCP clients.
  "name": "word-counter",
  "description": "Counts the words of a text",

  // Modules that export an array of tools; paths are meant from this file.
  "tools": ["./tools.mjs"],

  // Tools of MCP servers that exist already, under their own names.
  // "mcpServers": {
  //   "files": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."] },
  //   "weather": { "url": "https://mcp.example/mcp", "headers": { "authorization": "Bearer ..." } },
  // },

  // The relay that brings work and money.
  "relay": { "url": "http://127.0.0.1:3000" },

  // What is offered there. A capability is the name of a tool; a price above 0 makes the agent a paid one.
  "listing": {
    "capabilities": ["count-words"],
    "pricing": [{ "capability": "count-words", "unit_cost": 0.05, "currency": "USD", "per": "task" }],
    "description": "Send a text as the prompt; the result is the number of its words",
  },

  // What others may have run: tools, or the tools behind each capability whose name is no tool's, or "all".
  // Without it the listing's capabilities are the tools on offer; a wrapped server's tools never are unnamed.
  // "offer": { "count-words": ["count-words"] },

  // Where others reach this agent; without it work comes over the agent's own socket to the relay.
  // "publicUrl": "https://agent.example",

  // Who else may call: whoever has this token is the owner; agents of the file have the trust it gives them.
  // "authToken": "a long random text",
  // "knownAgents": "./agents.json",

  // Where MCP is served: http, or stdio for a client that starts this agent itself.
  // "transport": "http",
  // "host": "127.0.0.1",
  // "port": 3100,
  // "allowedHosts": ["agent.example"],

  // Risk of a tool: 0 reads, 1 drafts, 2 writes, 3 executes, 4 moves money. Above require_approval_above
  // the owner is asked (GET and POST /approvals), above deny_above nothing runs. With a quorum the relay
  // asks these agents instead; all have to approve unless fewer are required.
  // "policy": {
  //   "max_risk_auto": 2,
  //   "require_approval_above": 2,
  //   "deny_above": 3,
  //   "allow": [],
  //   "deny": [],
  //   "quorum": {
  //     "approvers": [{ "agent_id": "01890000-0000-7000-8000-000000000001", "public_key": "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a" }],
  //     "required": 1,
  //   },
  // },

  // A model that plans tasks, and one that embeds memories: OpenAI-compatible. Keys come from the
  // environment: AGENT_LLM_API_KEY, AGENT_EMBEDDINGS_API_KEY.
  // "llm": { "baseUrl": "http://127.0.0.1:11434/v1", "model": "qwen3" },
  // "embeddings": { "baseUrl": "http://127.0.0.1:11434/v1", "model": "nomic-embed-text" },

  // What the agent keeps: its key, its memories, and a line for each decision about a tool.
  "dataDir": "./.agent",
  // "memory": { "path": "./.agent/memory.db" },
  // "auditLog": "./.agent/audit.jsonl",

  // "agent_type": "service",
  // "taskTimeoutMs": 300000,
  // "syncIntervalMs": 30000,
  // "housekeepingIntervalMs": 1800000,
  // "logLevel": "info",
}
`;
